import json
import sys

import openai
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel

from checks import caught, run_checks, run_faults, services

HELLO = [{"role": "user", "content": "Hello there"}]
QUESTION = [{"role": "user", "content": "What is the weather in Köln and in Paris?"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


class Report(BaseModel):
    is_warm: bool
    celsius: int


def connect(kind="engine", key=None, library=OpenAI):
    service = services()[kind]
    return library(base_url=f"{service['address']}/v1", api_key=key or service["key"])


def create(**fields):
    return connect().chat.completions.create(**{"model": "clarke-1.0", "messages": HELLO, **fields})


def whole():
    answer = create(temperature=0)
    choice = answer.choices[0]
    assert choice.finish_reason == "stop" and choice.message.content.strip()
    assert choice.message.refusal is None and choice.message.tool_calls is None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer._request_id.startswith("req_")


def cached():
    # So long that no answer behind it is worth more to the prompt cache than it is.
    messages = [{"role": "user", "content": "Hello there. " * 100}]
    for _ in range(2):
        usage = create(messages=messages, max_tokens=100).usage
    assert usage.prompt_tokens_details.cached_tokens == usage.prompt_tokens - 1


def streamed():
    expected = create(temperature=0, model="hal-1.0")
    text, thinking, usage = "", "", None
    options = {"include_usage": True}
    for chunk in create(temperature=0, model="hal-1.0", stream=True, stream_options=options):
        delta = chunk.choices[0].delta if chunk.choices else None
        text += (delta and delta.content) or ""
        thinking += getattr(delta, "reasoning_content", None) or ""
        usage = chunk.usage
    message = expected.choices[0].message
    assert (text, thinking) == (message.content, message.reasoning_content)
    assert usage.completion_tokens == expected.usage.completion_tokens


def stream_helper():
    with connect().chat.completions.stream(model="clarke-1.0", messages=HELLO) as stream:
        pieces = [event.delta for event in stream if event.type == "content.delta"]
        answer = stream.get_final_completion()
    assert "".join(pieces) == answer.choices[0].message.content != ""


def parsed():
    answer = connect().chat.completions.parse(model="clarke-1.0", messages=HELLO, response_format=Report)
    assert isinstance(answer.choices[0].message.parsed, Report)


def tool_loop(kind="scripted"):
    client, messages, asked = connect(kind), list(QUESTION), []
    for _ in range(3):
        answer = client.chat.completions.create(model="clarke-1.0", messages=messages, tools=[WEATHER])
        message = answer.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            asked.append(city)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"rain in {city}"})
    assert asked == ["Köln", "Paris"], asked
    assert message.content == "Köln: rain in Köln; Paris: rain in Paris", message.content


async def asynchronous():
    async with connect(library=AsyncOpenAI) as client:
        stream = await client.chat.completions.create(model="clarke-1.0", messages=HELLO, stream=True)
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
    assert text.strip()


def left():
    with create(messages=[{"role": "user", "content": "hello " * 8_000}], stream=True) as stream:
        next(iter(stream))
    assert create().choices[0].finish_reason == "stop"


def models():
    assert [model.id for model in connect().models.list()] == ["clarke-1.0", "hal-1.0", "tycho-1.0"]
    assert connect().models.retrieve("hal-1.0").id == "hal-1.0"


def errors():
    wrong = connect(key="sk-wrong-0123456789")
    error = caught(openai.AuthenticationError, lambda: wrong.chat.completions.create(model="clarke-1.0", messages=HELLO))
    assert error.code == "invalid_api_key" and error.request_id.startswith("req_")
    error = caught(openai.NotFoundError, lambda: create(model="gpt-4o"))
    assert error.code == "model_not_found" and "hal-1.0, clarke-1.0, tycho-1.0" in error.message
    too_long = [{"role": "user", "content": "hello " * 40_000}]
    error = caught(openai.BadRequestError, lambda: create(messages=too_long))
    assert error.code == "context_length_exceeded" and "32768" in error.message
    error = caught(openai.NotFoundError, lambda: connect().responses.create(model="clarke-1.0", input="Hello"))
    assert error.code == "unsupported_endpoint"


def ask_whole(service):
    client = OpenAI(base_url=f"{service['address']}/v1", api_key=service["key"])
    return client.chat.completions.create(model="clarke-1.0", messages=HELLO).choices[0].message.content


def ask_streamed(service):
    client = OpenAI(base_url=f"{service['address']}/v1", api_key=service["key"])
    stream = client.chat.completions.create(model="clarke-1.0", messages=HELLO, stream=True)
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream)


if sys.argv[1:] == ["faults"]:
    run_faults(ask_whole, ask_streamed, openai.APIError)
else:
    checks = [whole, cached, streamed, stream_helper, parsed, tool_loop, asynchronous, left, models, errors]
    run_checks("openai", {check.__name__: check for check in checks})
