"""Drives the real Sandglass window through xdotool and checks what a person would see.

Run by scripts/window-test inside a private X server and session bus:  drive.py OUT_FOLDER [tour]
With "tour" the finished home is opened again in dark, at 2x and small, and every page is photographed (scripts/screens).
The window tells where its controls are in a state file (SANDGLASS_UI_STATE); everything else is mouse, keyboard and pictures.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

OUT = sys.argv[1]
BIN = os.path.abspath("bin/sandglass")
NOTES = os.path.join(OUT, "notifications.jsonl")


class Window:
    """One running desktop app with a home folder of its own."""

    def __init__(self, home, theme="light", scale="1", size=(1180, 760), env=None):
        self.state_file = os.path.join(home, "ui.json")
        self.log = open(os.path.join(OUT, "app.log"), "a")
        full = dict(os.environ, SANDGLASS_HOME=home, SANDGLASS_UI_STATE=self.state_file, FYNE_THEME=theme, FYNE_SCALE=scale)
        full.update(env or {})
        if os.path.exists(self.state_file):
            os.remove(self.state_file)
        self.process = subprocess.Popen([BIN], env=full, stdout=self.log, stderr=self.log)
        self.id = run("timeout", "30", "xdotool", "search", "--sync", "--onlyvisible", "--name", "^Sandglass").split()[0]
        run("xdotool", "windowactivate", "--sync", self.id)
        self.resize(*size)
        self.wait(lambda s: s["objects"], "the first frame")

    def resize(self, width, height):
        run("xdotool", "windowsize", "--sync", self.id, str(width), str(height))
        run("xdotool", "windowmove", self.id, "20", "20")
        time.sleep(0.4)

    def state(self):
        try:
            with open(self.state_file) as f:
                return json.load(f)
        except (OSError, ValueError):
            return {"page": "", "run": 0, "status": "", "toast": "", "dialog": False, "objects": {}}

    def wait(self, good, what, seconds=30):
        """Waits until the state is as wanted; fails with what was wanted and what there is."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise SystemExit("the app ended with %s while waiting for %s" % (self.process.returncode, what))
            state = self.state()
            if good(state):
                return state
            time.sleep(0.1)
        self.shot("failed")
        raise SystemExit("waited %d s for %s; the window shows %s" % (seconds, what, json.dumps(self.state())))

    def click(self, name):
        state = self.wait(lambda s: name in s["objects"], "the control " + name)
        time.sleep(0.3)  # a layout may still move under the pointer
        x, y, w, h = self.state()["objects"].get(name, state["objects"][name])
        run("xdotool", "mousemove", "--sync", "--window", self.id, str(x + w // 2), str(y + h // 2))
        time.sleep(0.1)
        run("xdotool", "click", "1")
        time.sleep(0.2)

    def key(self, *keys):
        for k in keys:
            run("xdotool", "key", k)
            time.sleep(0.15)

    def type(self, text):
        run("xdotool", "type", "--delay", "15", text)
        time.sleep(0.2)

    def shot(self, name):
        time.sleep(0.7)  # charts are drawn off the UI thread
        path = os.path.join(OUT, name + ".png")
        run("import", "-window", self.id, path)
        return path

    def quit(self):
        self.key("ctrl+q")
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            raise SystemExit("Ctrl+Q did not end the app within 15 s")


def run(*cmd):
    return subprocess.run(cmd, check=True, stdout=subprocess.PIPE, timeout=60).stdout.decode()


def main():
    home = tempfile.mkdtemp(prefix="sandglass-home-")
    notes = open(NOTES, "w")
    recorder = subprocess.Popen(["bin/notifyrec"], stdout=notes)
    began = time.monotonic()
    w = Window(home)
    try:
        w.wait(lambda s: s["page"] == "first", "the three doors")
        w.shot("first-launch-light")
        w.click("first.sandbox")
        w.wait(lambda s: s["page"] == "run", "the demo run's page", 60)
        w.wait(lambda s: s["page"] == "run" and s["status"] == "running", "the demo run to start", 60)
        time.sleep(6)
        w.shot("run-live-light")
        w.wait(lambda s: s["status"] == "collected", "the demo run to be collected", 120)
        took = time.monotonic() - began
        print("from start to a collected demo run: %.0f s" % took)
        if took > 120:
            raise SystemExit("the demo took longer than two minutes")
        w.shot("run-light")
        for page, key in (("week", "ctrl+1"), ("runs", "ctrl+2"), ("plan", "ctrl+3"), ("settings", "ctrl+5")):
            w.key(key)
            w.wait(lambda s, page=page: s["page"] == page, "the page " + page)
            w.shot(page + "-light")
        tpu_run(w)
        w.quit()
        sign_in(home)
        if "tour" in sys.argv[2:]:
            tour(home)
    finally:
        recorder.terminate()
        if w.process.poll() is None:
            w.process.kill()
    with open(os.path.join(OUT, "app.log")) as f:
        text = f.read()
    if "Error in Fyne call thread" in text or "panic" in text:
        raise SystemExit("the app's own log shows a fault:\n" + text[-4000:])


def told(good, what, seconds):
    """Waits until the notification service has received a notification like that."""
    got, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        with open(NOTES) as f:
            got = [json.loads(line) for line in f if line.endswith("\n")]
        if any(good(n) for n in got):
            return
        time.sleep(0.2)
    raise SystemExit("no notification said %s; received: %s" % (what, got))


def tpu_run(w):
    """A TPU run of the demo project, by keyboard alone: Ctrl+N, Enter through the wizard, Ctrl+Enter; the queue; the notification."""
    wizard(w, tpu=True)
    w.wait(lambda s: s["status"] == "queued", "the TPU run to be queued", 30)
    w.shot("run-queued-light")
    w.key("ctrl+1")  # nothing is told natively about what the window is showing
    told(lambda n: n.get("title", "").startswith("TPU run started: ") and "waited" in n.get("body", ""), "that the TPU run started", 105)
    told(lambda n: "finished" in n.get("title", "").lower(), "that the run finished", 120)


def wizard(w, tpu=False, shots="-light"):
    """The New run wizard from Ctrl+N to a pushed run, with the keyboard only. Each step shows an answer that Enter takes; the push
    wants Ctrl+Enter, and one Enter too many must not spend."""
    at = lambda step: w.wait(lambda s: s["page"] == "new" and s["status"] == step, "the step " + step, 60)
    w.key("ctrl+n")
    at("project")
    w.shot("new-project" + shots)
    for step in ("inputs", "accelerator"):
        w.key("Return")
        at(step)
        w.shot("new-" + step + shots)
    if tpu:
        w.key("Down")  # the machines are a list; the TPU may stand above or below the chosen one
        if not chosen(w, "tpu"):
            w.key("Down")
        if not chosen(w, "tpu"):
            w.key("Up", "Up")
    w.key("Return")
    at("hours")
    w.shot("new-hours" + shots)
    w.key("Escape")  # back and forth loses nothing
    at("accelerator")
    w.key("Return")
    at("hours")
    w.key("alt+Left")
    at("accelerator")
    w.key("Return")
    at("hours")
    w.key("Return")
    at("rehearse")
    if "new.rehearse" not in w.state()["objects"]:  # not rehearsed yet: Enter does it
        w.shot("new-rehearse" + shots)
        w.key("Return")
        w.wait(lambda s: s["status"] == "rehearse busy", "the rehearsal to run", 20)
        w.shot("new-rehearsing" + shots)
        w.wait(lambda s: s["status"] == "rehearse" and "new.rehearse" in s["objects"], "the rehearsal to end", 240)
    w.shot("new-rehearsed" + shots)
    w.key("Return")
    at("review")
    w.shot("new-review" + shots)
    w.key("Return", "Return")
    time.sleep(1)
    if w.state()["page"] != "new":
        raise SystemExit("Enter alone pushed a run")
    w.key("ctrl+Return")
    w.wait(lambda s: s["page"] == "run", "the pushed run's page", 30)


def chosen(w, pool):
    """Whether the machine of a pool is the chosen one on the accelerator step."""
    time.sleep(0.5)
    return w.state()["objects"].get("new.chosen." + pool) is not None


def sign_in(home):
    """Signing in with a key against a sandbox served on loopback: the secret must be in the Secret Service, and nowhere else."""
    served = subprocess.Popen([BIN, "sandbox", "serve", "--addr", "127.0.0.1:0", "--home", os.path.join(home, "served")],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    told = json.loads(served.stdout.readline())
    own = tempfile.mkdtemp(prefix="sandglass-signin-")
    w = Window(own, env={"SANDGLASS_ENDPOINT": told["url"]})
    try:
        w.wait(lambda s: s["page"] == "first", "the three doors")
        w.click("first.signin")
        w.wait(lambda s: s["dialog"], "the sign-in dialog")
        w.type(told["username"] + ":" + told["key"])
        w.shot("sign-in-light")
        w.key("Return")
        w.wait(lambda s: s["page"] == "week" and not s["dialog"], "the week after signing in")
        w.wait(lambda s: "Signed in as" in s["toast"], "the word that it worked")
        time.sleep(1.5)  # the first reading arrives
        w.shot("week-empty-light")
        w.quit()
    finally:
        served.terminate()
        if w.process.poll() is None:
            w.process.kill()
    found = subprocess.run(["secret-tool", "search", "--all", "service", "sandglass"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if told["key"].encode() not in found.stdout:
        raise SystemExit("the key is not in the Secret Service")
    for folder, _, names in os.walk(own):
        for name in names:
            with open(os.path.join(folder, name), "rb") as f:
                if told["key"].encode() in f.read():
                    raise SystemExit("the key was found in " + os.path.join(folder, name))


def tour(home):
    """Every page of a home that holds a finished demo: dark, small, and at 2x."""
    for suffix, theme, scale, size in (("dark", "dark", "1", (1180, 760)), ("small-light", "light", "1", (900, 600)),
                                       ("2x-dark", "dark", "2", (1800, 1200))):
        w = Window(home, theme, scale, size)
        try:
            for page, key in (("week", "ctrl+1"), ("plan", "ctrl+3"), ("settings", "ctrl+5"), ("new", "ctrl+n"), ("runs", "ctrl+2")):
                w.key(key)
                w.wait(lambda s, page=page: s["page"] == page, "the page " + page)
                w.shot("%s-%s" % ({"new": "new-project"}.get(page, page), suffix))
            w.key("Down", "Down", "Return")
            w.wait(lambda s: s["page"] == "run", "a run's page")
            w.shot("run-" + suffix)
            w.quit()
        finally:
            if w.process.poll() is None:
                w.process.kill()


main()
