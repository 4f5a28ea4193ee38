import sys

import anthropic
from anthropic import Anthropic, AsyncAnthropic, beta_tool
from pydantic import BaseModel

from checks import caught, run_checks, run_faults, services

HELLO = [{"role": "user", "content": "Hello there"}]
QUESTION = [{"role": "user", "content": "What is the weather in Köln and in Paris?"}]


class Report(BaseModel):
    is_warm: bool
    celsius: int


def connect(kind="engine", key=None, library=Anthropic):
    service = services()[kind]
    return library(base_url=service["address"], api_key=key or service["key"])


def create(**fields):
    return connect().messages.create(**{"model": "clarke-1.0", "max_tokens": 900, "messages": HELLO, **fields})


def whole():
    answer = create()
    assert answer.stop_reason == "end_turn"
    assert [block.type for block in answer.content] == ["text"]
    assert answer.usage.input_tokens + answer.usage.cache_read_input_tokens > 0 < answer.usage.output_tokens
    assert answer._request_id.startswith("req_")


def cached():
    # So long that no answer behind it is worth more to the prompt cache than it is.
    messages = [{"role": "user", "content": "Hello there. " * 100}]
    for _ in range(2):
        usage = create(messages=messages, max_tokens=100).usage
    assert usage.input_tokens == 1 and usage.cache_read_input_tokens > 100


def stream_helper():
    with connect().messages.stream(model="hal-1.0", max_tokens=900, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    thinking, *shown = message.content
    assert thinking.type == "thinking" and thinking.thinking and thinking.signature
    # Small weights may end when they have thought.
    assert "".join(block.text for block in shown) == text


def raw_stream():
    types = [event.type for event in create(stream=True)]
    assert types[0] == "message_start" and types[-1] == "message_stop"


def thinking_comes_back():
    first = create(model="hal-1.0")
    turns = [*HELLO, {"role": "assistant", "content": first.content}, {"role": "user", "content": "And now?"}]
    assert create(model="hal-1.0", messages=turns).stop_reason == "end_turn"


def count():
    counted = connect().messages.count_tokens(model="clarke-1.0", messages=HELLO).input_tokens
    usage = create().usage
    assert counted == usage.input_tokens + usage.cache_read_input_tokens


def parsed():
    answer = connect().messages.parse(model="clarke-1.0", max_tokens=900, messages=HELLO, output_format=Report)
    assert isinstance(answer.parsed_output, Report)


def tool_runner():
    asked = []

    @beta_tool
    def get_weather(city: str) -> str:
        """Tells the weather.

        Args:
            city: Where.
        """
        asked.append(city)
        return f"rain in {city}"

    runner = connect("scripted").beta.messages.tool_runner(
        model="clarke-1.0", max_tokens=900, tools=[get_weather], messages=QUESTION
    )
    message = runner.until_done()
    assert asked == ["Köln", "Paris"], asked
    assert message.content[0].text == "Köln: rain in Köln; Paris: rain in Paris", message.content


async def asynchronous():
    async with connect(library=AsyncAnthropic) as client:
        async with client.messages.stream(model="clarke-1.0", max_tokens=900, messages=HELLO) as stream:
            assert (await stream.get_final_text()).strip()


def left():
    with create(messages=[{"role": "user", "content": "hello " * 8_000}], stream=True) as stream:
        next(iter(stream))
    assert create().stop_reason == "end_turn"


def models():
    pages = [model.id for model in connect().models.list(limit=2)]
    assert pages == ["clarke-1.0", "hal-1.0", "tycho-1.0"], pages
    assert connect().models.retrieve("hal-1.0").id == "hal-1.0"


def errors():
    wrong = connect(key="sk-wrong-0123456789")
    fields = {"model": "clarke-1.0", "max_tokens": 9, "messages": HELLO}
    error = caught(anthropic.AuthenticationError, lambda: wrong.messages.create(**fields))
    assert error.request_id.startswith("req_")
    error = caught(anthropic.NotFoundError, lambda: create(model="claude-sonnet-5"))
    assert "hal-1.0, clarke-1.0, tycho-1.0" in str(error)
    too_long = [{"role": "user", "content": "hello " * 40_000}]
    assert "> 32768 maximum" in str(caught(anthropic.BadRequestError, lambda: create(messages=too_long)))


def ask_whole(service):
    client = Anthropic(base_url=service["address"], api_key=service["key"])
    answer = client.messages.create(model="clarke-1.0", max_tokens=500, messages=HELLO)
    return "".join(block.text for block in answer.content)


def ask_streamed(service):
    client = Anthropic(base_url=service["address"], api_key=service["key"])
    with client.messages.stream(model="clarke-1.0", max_tokens=500, messages=HELLO) as stream:
        return stream.get_final_text()


if sys.argv[1:] == ["faults"]:
    run_faults(ask_whole, ask_streamed, anthropic.APIError)
else:
    checks = [whole, cached, stream_helper, raw_stream, thinking_comes_back, count, parsed]
    checks += [tool_runner, asynchronous, left, models, errors]
    run_checks("anthropic", {check.__name__: check for check in checks})
