"""First program in a sandbox session without internet: brings up the loopback device of its own network, gives up the
right to change networks, and becomes the kernel: loopback.py program arguments…"""
import os
import sys

try:
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        flags = 0x1 | 0x40  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", flags))  # SIOCSIFFLAGS
except Exception as e:  # a kernel that never talks to itself does not need it
    sys.stderr.write("sandbox: the loopback device is not available in this session: %s\n" % e)
try:
    import ctypes

    ctypes.CDLL(None).prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL
except Exception:
    pass
os.execv(sys.executable, [sys.executable] + sys.argv[1:])
