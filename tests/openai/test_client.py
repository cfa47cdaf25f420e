"""OpenAI's own client, unchanged: an address and a key. Every call of its that hearthd serves."""
import asyncio
import json
import math

import openai
import pytest

from conftest import becomes_true

ASK = [{"role": "user", "content": "Why is the sky blue?"}]


def chat(client, **more):
    return client.chat.completions.create(**({"model": "tiny", "messages": ASK, "max_tokens": 24, "seed": 7} | more))


def complete(client, **more):
    return client.completions.create(**({"model": "tiny", "prompt": "The sea is", "max_tokens": 24, "seed": 7} | more))


def joined(chunks, index=0):
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices if choice.index == index)


def joined_text(chunks, index=0):
    return "".join(choice.text for chunk in chunks for choice in chunk.choices if choice.index == index)


# ---- models ----


def test_models_are_listed_and_retrieved(client):
    assert [model.id for model in client.models.list()] == ["tiny"]
    model = client.models.retrieve("tiny")
    assert (model.id, model.object, model.owned_by) == ("tiny", "model", "hearth")
    assert model.created > 1_700_000_000


# ---- chat ----


def test_a_chat_is_answered_with_usage_and_reason(client):
    reply = chat(client)
    choice = reply.choices[0]
    assert reply.object == "chat.completion" and reply.model == "tiny" and reply.id.startswith("chatcmpl-")
    assert choice.message.role == "assistant" and choice.message.content
    assert choice.finish_reason in ("stop", "length")
    assert reply.usage.completion_tokens <= 24
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_a_stream_joins_to_the_whole_answer(client):
    whole = chat(client, temperature=1.2)
    chunks = list(chat(client, temperature=1.2, stream=True))
    assert joined(chunks) == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason] == [whole.choices[0].finish_reason]
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk.id for chunk in chunks}) == 1
    assert all(chunk.usage is None for chunk in chunks)


def test_include_usage_adds_a_last_chunk(client):
    chunks = list(chat(client, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == [] and chunks[-1].usage == chat(client).usage
    assert all(chunk.usage is None and "usage" in chunk.model_fields_set for chunk in chunks[:-1])


def test_the_streaming_helper_of_the_client_works(client):
    with client.chat.completions.stream(model="tiny", messages=ASK, max_tokens=24, seed=7) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
        assert stream.current_completion_snapshot.choices[0].message.content == text
    assert text == chat(client).choices[0].message.content


def test_several_choices_come_and_the_first_is_the_single_one(client):
    several = chat(client, n=3, temperature=1.5)
    assert [choice.index for choice in several.choices] == [0, 1, 2]
    texts = [choice.message.content for choice in several.choices]
    assert len(set(texts)) > 1
    assert texts[0] == chat(client, temperature=1.5).choices[0].message.content
    chunks = list(chat(client, n=3, temperature=1.5, stream=True))
    assert [joined(chunks, index) for index in range(3)] == texts


def test_a_seed_gives_the_same_answer_again(client):
    texts = [chat(client, seed=seed, temperature=1.5).choices[0].message.content for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("shape", ["one", "four"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_text_ends_before_a_stop_string(client, shape, stream):
    whole = chat(client, max_tokens=64).choices[0].message.content
    middle = len(whole) // 2
    stop = whole[middle:middle + 3]
    wanted = stop if shape == "one" else ["never there", stop, "nor this", "nor that"]
    reply = chat(client, max_tokens=64, stop=wanted, stream=stream)
    if stream:
        chunks = list(reply)
        text, reason = joined(chunks), chunks[-1].choices[0].finish_reason
    else:
        text, reason = reply.choices[0].message.content, reply.choices[0].finish_reason
    assert text == whole[:whole.index(stop)] and reason == "stop"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_both_names_of_the_limit_work(client, name):
    reply = client.chat.completions.create(model="tiny", messages=ASK, extra_body={"ignore_eos": True}, **{name: 5})
    assert reply.usage.completion_tokens == 5 and reply.choices[0].finish_reason == "length"


def test_logprobs_have_bytes_and_the_likeliest_tokens(client):
    reply = chat(client, logprobs=True, top_logprobs=4, temperature=0, max_tokens=8)
    entries = reply.choices[0].logprobs.content
    assert len(entries) == reply.usage.completion_tokens
    for entry in entries:
        assert entry.logprob <= 0 and len(entry.top_logprobs) == 4
        assert entry.top_logprobs[0].logprob == entry.logprob  # greedy
        likeliness = [top.logprob for top in entry.top_logprobs]
        assert likeliness == sorted(likeliness, reverse=True)
        assert sum(math.exp(logprob) for logprob in likeliness) <= 1.0001
    content = b"".join(bytes(entry.bytes) for entry in entries)
    assert reply.choices[0].message.content in content.decode(errors="replace")
    streamed = [entry for chunk in chat(client, logprobs=True, top_logprobs=4, temperature=0, max_tokens=8, stream=True)
                for choice in chunk.choices if choice.logprobs for entry in choice.logprobs.content]
    assert streamed == entries
    assert chat(client).choices[0].logprobs is None


def test_a_bias_forces_and_forbids_tokens(client):
    first = chat(client, logprobs=True, top_logprobs=2, temperature=0, max_tokens=1).choices[0].logprobs.content[0]
    likeliest, second = (top.model_extra["id"] for top in first.top_logprobs)
    def picked(bias):
        reply = chat(client, logit_bias=bias, logprobs=True, temperature=0, max_tokens=1)
        return reply.choices[0].logprobs.content[0].model_extra["id"]
    assert picked({str(likeliest): -100}) == second
    assert picked({str(second): 100}) == second


def test_content_may_come_in_parts(client):
    parts = [{"type": "text", "text": "Why is the"}, {"type": "text", "text": "sky blue?"}]
    in_parts = chat(client, messages=[{"role": "user", "content": parts}])
    as_text = chat(client, messages=[{"role": "user", "content": "Why is the\nsky blue?"}])
    assert in_parts.choices == as_text.choices


def test_a_developer_speaks_as_the_system(client):
    def answer(role):
        return chat(client, messages=[{"role": role, "content": "Be brief."}, *ASK])
    assert answer("developer").choices == answer("system").choices
    assert answer("developer").usage.prompt_tokens > chat(client).usage.prompt_tokens


def test_tools_and_a_call_without_content_are_taken(client):
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    reply = chat(client, tools=[tool], tool_choice="auto", parallel_tool_calls=False, messages=[
        *ASK, {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"}])
    assert reply.choices[0].finish_reason in ("stop", "length")


def test_what_clients_send_without_harm_is_known(client):
    raw = client.chat.completions.with_raw_response.create(
        model="tiny", messages=ASK, max_tokens=2, user="me", metadata={"a": "b"}, store=False, service_tier="auto",
        safety_identifier="s", prompt_cache_key="k", reasoning_effort="low", modalities=["text"],
        response_format={"type": "text"}, presence_penalty=0.5, frequency_penalty=0.5, top_p=0.9)
    assert "x-hearth-unknown-fields" not in raw.headers
    assert raw.parse().choices


# ---- completions ----


def test_a_completion_and_its_stream_agree(client):
    whole = complete(client, temperature=1.2)
    assert whole.object == "text_completion" and whole.id.startswith("cmpl-")
    chunks = list(complete(client, temperature=1.2, stream=True, stream_options={"include_usage": True}))
    assert joined_text(chunks) == whole.choices[0].text
    assert chunks[-1].usage == whole.usage


def test_completion_logprobs_have_offsets(client):
    whole = complete(client, logprobs=2, temperature=0, max_tokens=8)
    logprobs = whole.choices[0].logprobs
    count = whole.usage.completion_tokens
    assert len(logprobs.tokens) == len(logprobs.token_logprobs) == len(logprobs.text_offset) == count
    assert logprobs.text_offset[0] == 0 and all(1 <= len(top) <= 2 for top in logprobs.top_logprobs)
    parts = [choice.logprobs for chunk in complete(client, logprobs=2, temperature=0, max_tokens=8, stream=True)
             for choice in chunk.choices if choice.logprobs]
    assert [token for part in parts for token in part.tokens] == logprobs.tokens
    assert [value for part in parts for value in part.token_logprobs] == logprobs.token_logprobs


def test_prompts_may_be_ids_and_several(client):
    raw = complete(client, extra_body={"return_token_ids": True})
    ids = raw.choices[0].model_extra["prompt_token_ids"]
    assert complete(client, prompt=ids).choices[0].text == raw.choices[0].text
    several = complete(client, prompt=["The sea is", "A fire"], n=2, temperature=1.3)
    alone = [complete(client, prompt=prompt, n=2, temperature=1.3) for prompt in ("The sea is", "A fire")]
    texts = [choice.text for reply in alone for choice in reply.choices]
    assert [choice.text for choice in several.choices] == texts
    assert several.usage.prompt_tokens == sum(reply.usage.prompt_tokens for reply in alone)
    chunks = list(complete(client, prompt=["The sea is", "A fire"], n=2, temperature=1.3, stream=True))
    assert [joined_text(chunks, index) for index in range(4)] == texts
    lists = complete(client, prompt=[ids, ids])
    assert lists.choices[0].text == lists.choices[1].text == raw.choices[0].text


# ---- errors ----


@pytest.mark.parametrize("more, param", [
    ({"temperature": 3}, "temperature"), ({"n": 9}, "n"), ({"max_tokens": 0}, "max_tokens"),
    ({"stop": ["a"] * 5}, "stop"), ({"logit_bias": {"x": 1}}, "logit_bias"), ({"messages": []}, "messages"),
    ({"top_logprobs": 3}, "top_logprobs"), ({"tool_choice": "required"}, "tool_choice"),
    ({"response_format": {"type": "json_object"}}, "response_format.type"),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://192.0.2.1/"}}]}]},
     "messages[0].content[0].type"),
    ({"stream": True, "temperature": -1}, "temperature")])
def test_a_wrong_field_is_a_bad_request_that_names_it(client, more, param):
    with pytest.raises(openai.BadRequestError) as caught:
        chat(client, **more)
    assert (caught.value.status_code, caught.value.code, caught.value.param) == (400, "bad_input", param)
    assert caught.value.type == "invalid_request_error" and param.split(".")[-1] in caught.value.message


def test_a_prompt_that_is_too_long_says_both_numbers(client):
    with pytest.raises(openai.BadRequestError) as caught:
        complete(client, prompt=[1] * 100_000)
    assert caught.value.code == "context_exceeded" and "100000" in caught.value.message


def test_t037_a_prompt_as_large_as_a_body_may_be_leaves_no_memory_behind(daemon, client):
    with pytest.raises(openai.BadRequestError) as caught:
        complete(client, prompt="a" * 31_000_000)
    assert caught.value.code == "context_exceeded" and "31000000" in caught.value.message
    status = json.loads(daemon.hearth("status", "--json"))
    assert status["resident_bytes"] < 40 << 20 and status["models"][0]["resident_bytes"] < 200 << 20


def test_an_unknown_model_is_not_found(client):
    for call in (lambda: client.models.retrieve("gpt"), lambda: chat(client, model="gpt")):
        with pytest.raises(openai.NotFoundError) as caught:
            call()
        assert caught.value.code == "not_found" and "tiny" in caught.value.message
    with pytest.raises(openai.NotFoundError) as caught:
        client.embeddings.create(model="tiny", input="x")
    assert caught.value.code == "route_not_found"


def test_a_wrong_key_is_an_authentication_error(daemon):
    with openai.OpenAI(base_url=daemon.url + "/v1", api_key="sk-wrong") as stranger:
        with pytest.raises(openai.AuthenticationError) as caught:
            stranger.models.list()
    assert caught.value.status_code == 401 and caught.value.type == "authentication_error"


def test_what_only_the_owner_may_do_is_denied(client):
    with pytest.raises(openai.PermissionDeniedError) as caught:
        client.post("../hearth/v1/shutdown", body={}, cast_to=object)
    assert caught.value.status_code == 403 and caught.value.code == "forbidden"


def test_too_much_at_once_is_a_rate_limit_error(client):
    patient = client.with_options(max_retries=0)
    streams = []
    try:
        with pytest.raises(openai.RateLimitError) as caught:
            for _ in range(8):  # 64 at a time; 256 are let in
                streams.append(complete(patient, prompt=["The sea"] * 8, n=8, max_tokens=4000, stream=True,
                                        extra_body={"ignore_eos": True}))
        assert caught.value.code == "busy" and caught.value.response.headers["retry-after"]
    finally:
        for stream in streams:
            stream.close()


def test_too_large_a_body_is_refused(client):
    with pytest.raises(openai.APIStatusError) as caught:
        complete(client, prompt="x" * (33 << 20))
    assert caught.value.status_code == 413 and caught.value.code == "too_large"


# ---- the client's other ways ----


def test_unknown_fields_stand_in_the_head_whole_and_streamed(client):
    for stream in (False, True):
        raw = client.chat.completions.with_raw_response.create(
            model="tiny", messages=ASK, max_tokens=2, stream=stream, extra_body={"max_token": 5})
        assert raw.headers["x-hearth-unknown-fields"] == "max_token"


def test_a_closed_stream_ends_its_generation(daemon, client):
    stream = complete(client, max_tokens=100_000, stream=True, extra_body={"ignore_eos": True})
    next(iter(stream))
    stream.close()
    assert becomes_true(lambda: daemon.running() == 0)
    assert complete(client).choices[0].text


def test_the_async_client_works(daemon):
    async def run():
        async with openai.AsyncOpenAI(base_url=daemon.url + "/v1", api_key=daemon.token) as client:
            whole, stream, models = await asyncio.gather(
                chat(client), chat(client, stream=True), client.models.retrieve("tiny"))
            chunks = [chunk async for chunk in stream]
            many = await asyncio.gather(*(complete(client, seed=seed, temperature=1.2) for seed in range(16)))
            return whole, chunks, models, [reply.choices[0].text for reply in many]

    whole, chunks, model, texts = asyncio.run(run())
    assert joined(chunks) == whole.choices[0].message.content
    assert model.id == "tiny"
    with openai.OpenAI(base_url=daemon.url + "/v1", api_key=daemon.token) as client:
        assert texts == [complete(client, seed=seed, temperature=1.2).choices[0].text for seed in range(16)]


def test_every_event_is_one_line_of_json(client):
    with client.chat.completions.with_streaming_response.create(
            model="tiny", messages=ASK, max_tokens=24, stream=True) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    for line in lines[:-1]:
        assert json.loads(line.removeprefix("data: "))["object"] == "chat.completion.chunk"
