"""Runs scim2-tester against a directory's address; prints one line of JSON for each of its checks."""

import json
import os
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server

url, token = sys.argv[1], os.environ["SCIM_TOKEN"]
client = SyncSCIMClient(Client(base_url=url, headers={"Authorization": f"Bearer {token}"}))
for result in check_server(client):
    line = {
        "status": result.status.name,
        "title": result.title,
        "of": str(result.resource_type or ""),
        "reason": str(result.reason or ""),
    }
    print(json.dumps(line))
