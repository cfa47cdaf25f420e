"""The served OpenAPI description against the daemon that serves it: schemathesis makes requests from it, good and bad, and
checks every answer. Its seed is fixed, so that a run repeats.
"""
import json
import os
import re
import subprocess
import sys

from conftest import fetch


def test_the_description_is_served_to_those_with_a_token(daemon):
    status, content_type, body = fetch(daemon, "/hearth/v1/openapi.json", daemon.token)
    assert status == 200 and content_type == "application/json"
    assert json.loads(body)["openapi"].startswith("3.1")
    assert fetch(daemon, "/hearth/v1/openapi.json", "wrong")[0] == 401


def schemathesis(daemon, *arguments):
    done = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", daemon.url + "/hearth/v1/openapi.json",
         "--url", daemon.url, "-H", f"Authorization: Bearer {daemon.token}", "--seed", "7", "--no-color", "-w", "1",
         "--generation-database", "none", "--no-shrink", "--request-timeout", "20", "--suppress-health-check", "all",
         "--warnings", "off", "--continue-on-failure", *arguments],
        cwd=daemon.folder, env=daemon.environment, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert re.search(r"[1-9]\d* generated", done.stdout), done.stdout[-2000:]


ENDLESS = "/hearth/v1/events"
NOT_CHECKED = (
    "positive_data_acceptance",  # a model's template may refuse a conversation, and models are named by people
    "allow_header_conformance",  # /hearth/v1/models/import is also where a model of that name would be shown
    "use_after_free", "ensure_resource_availability")  # over TCP nothing can be imported


def test_every_answer_is_one_that_the_description_has(fresh_daemon):
    schemathesis(fresh_daemon, "--phases", "examples,coverage,fuzzing", "--max-examples", "15",
                 "--exclude-path", ENDLESS, "--checks", "all",
                 "--exclude-checks", ",".join(NOT_CHECKED))
    assert fresh_daemon.process.poll() is None
