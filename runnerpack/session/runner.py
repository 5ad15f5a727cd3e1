"""@@DOC@@"""
import json

CONFIG = json.loads(r'''@@CONFIG@@''')

PAYLOAD_SHA256 = "@@PAYLOAD_SHA256@@"
PAYLOAD = "@@PAYLOAD@@"
