"""Runs checks and prints one line of JSON for each, for the program that started this one."""

import asyncio
import json
import os
import traceback


def services():
    """Where each service of this run listens and its key, by what it is for."""
    return json.loads(os.environ["ODYSSEY_SERVICES"])


def run_checks(client, checks):
    for name, check in checks.items():
        try:
            result = check()
            if asyncio.iscoroutine(result):
                asyncio.run(result)
            fault = None
        except BaseException as error:  # an assertion as well as what a library throws
            frame = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"{type(error).__name__}: {error} ({os.path.basename(frame.filename)}:{frame.lineno})"
        print(json.dumps({"client": client, "check": name, "fault": fault}), flush=True)


def caught(kind, ask):
    """What was raised, which must be of the kind."""
    try:
        answer = ask()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} is expected, not {answer!r}")


def run_faults(ask_whole, ask_streamed, error_kind):
    """Asks every service that has a fault, and prints what its user has in the end: text, or an error."""
    for name, service in services().items():
        if not name.startswith("fault:"):
            continue
        ask = ask_streamed if name.endswith(":streamed") else ask_whole
        try:
            text, error = ask(service), None
        except error_kind as raised:
            text, error = None, str(raised)
        except Exception as raised:  # a transport's own error is an error to the user all the same
            text, error = None, f"{type(raised).__name__}: {raised}"
        print(json.dumps({"service": name, "text": text, "error": error}), flush=True)
