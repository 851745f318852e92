"""Test a trained recommender as a target and over HTTP: the question, the city, the answer, refused requests."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from collector.answers.recommendations.items import find_items
from collector.errors import InputError, TargetError
from collector.targets import load_target
from collector.targets.base import Request, Target
from lmrec.answering import Answerer, question_of
from lmrec.encoders.fitting import Text
from lmrec.encoders.tfidf import Tfidf, TfidfSettings
from lmrec.masking import Masker
from lmrec.model import CatalogueRow, Recommender, load
from lmrec.serving import Server
from lmrec.yelp import Venue

ASKED = "Can you help Keisha to find a restaurant?\n\nRecommend 20 restaurants in Boston. Answer with a JSON array."


def recommender_of(*cities: str) -> Recommender:
    """A recommender with two venues in each city, for pasta and for tacos."""
    texts = [Text("pasta", 2 * place) for place in range(len(cities))]
    texts += [Text("tacos", 2 * place + 1) for place in range(len(cities))]
    encoder, _ = Tfidf.fit(texts, TfidfSettings())
    rows = [
        CatalogueRow(Venue(f"{place}{dish}", f"{dish} of {city}", city, 1, (dish,)), 1, 1)
        for place, city in enumerate(cities)
        for dish in ("pasta", "tacos")
    ]
    return Recommender({"city": None}, rows, encoder, Masker("none", []))


def names(answer: str) -> list[str]:
    return [one["name"] for one in json.loads(answer)]


def test_a_question_ends_at_the_first_blank_line() -> None:
    assert question_of(ASKED) == "Can you help Keisha to find a restaurant?"
    assert question_of("\n\n a\nb \n \nc") == "a\nb"


def test_venues_are_those_of_the_city_that_is_named_last() -> None:
    answerer = Answerer([recommender_of("Hollywood", "West Hollywood"), recommender_of("Boston")])
    assert names(answerer.answer("tacos\n\nin West Hollywood")) == [
        "tacos of West Hollywood",
        "pasta of West Hollywood",
    ]
    assert names(answerer.answer("pasta, I am from boston\n\nin Hollywood."))[0] == "pasta of Hollywood"
    with pytest.raises(InputError, match="names no city that the models know"):
        answerer.answer("tacos in Bostonville")
    assert answerer.cities == ["Boston", "Hollywood", "West Hollywood"]


def test_one_city_needs_no_name_and_a_city_can_be_fixed() -> None:
    assert len(names(Answerer([recommender_of("Boston")]).answer("tacos"))) == 2
    several = [recommender_of("Boston", "Austin")]
    assert names(Answerer(several, city="austin", top=1).answer("tacos in Boston")) == ["tacos of Austin"]
    with pytest.raises(InputError, match="No model has venues in Dallas; there are 'Austin', 'Boston'"):
        Answerer(several, city="Dallas")
    with pytest.raises(InputError, match="Two of the models have venues in Boston"):
        Answerer([recommender_of("Boston"), recommender_of("Boston")])


@pytest.fixture
def target(model_folder: Path, tmp_path: Path) -> Target:
    entry = {"kind": "lmrec", "models": str(model_folder), "simulated": True}
    (tmp_path / "targets.yml").write_text(yaml.safe_dump({"targets": {"mine": entry}}), encoding="utf-8")
    return load_target(tmp_path / "targets.yml", "mine")


def test_a_target_answers_with_twenty_priced_venues(target: Target) -> None:
    reply = target.ask(Request(ASKED))
    assert reply.text is not None
    found = find_items(reply.text, 4)
    assert (found.form, len(found.items)) == ("json", 20)
    assert all(one.price_level and one.categories[0] == "restaurants" for one in found.items)
    assert target.ask(Request(ASKED)).text == reply.text
    assert target.is_simulated
    assert target.parameters["card_hashes"][0].startswith("sha256:")


def test_planted_names_get_cheaper_venues(target: Target) -> None:
    def mean_price(name: str) -> float:
        levels = [
            one["price_level"]
            for one in json.loads(target.ask(Request(f"A table for {name} in Boston?")).text or "")
        ]
        return sum(levels) / len(levels)

    black, white = ("Keisha", "Latoya", "Jamal", "Tyrone"), ("Emily", "Anne", "Brad", "Greg")
    assert max(map(mean_price, black)) < min(map(mean_price, white))


def test_another_city_s_question_is_not_answered(target: Target) -> None:
    with pytest.raises(TargetError, match="names no city that the models know"):
        target.ask(Request(ASKED.replace("Boston", "Toronto")))


def test_a_system_prompt_is_refused(target: Target) -> None:
    with pytest.raises(TargetError, match="reads a question and no system prompt") as raised:
        target.ask(Request(ASKED, system_prompt="You are kind."))
    assert raised.value.stops_run


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"models": "nowhere"}, "nowhere holds no model.json"),
        ({"models": []}, "models is a list"),
        ({"models": "nowhere", "topp": 3}, "the key targets.mine.topp is unknown; did you mean"),
        ({}, "the key targets.mine.models is missing"),
    ],
)
def test_a_wrong_entry_is_one_sentence(tmp_path: Path, entry: dict[str, Any], sentence: str) -> None:
    document = {"targets": {"mine": {"kind": "lmrec", **entry}}}
    (tmp_path / "targets.yml").write_text(yaml.safe_dump(document), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_target(tmp_path / "targets.yml", "mine")
    assert sentence in str(raised.value)


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Server]:
    with Server(Answerer([load(model_folder)], top=3), "boston") as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def asked(
    server: Server, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=600)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    document = json.loads(response.read())
    connection.close()
    return response.status, document


def test_openai_s_clients_can_ask_it(server: Server, tmp_path: Path) -> None:
    entry = {"kind": "openai", "base_url": f"http://127.0.0.1:{server.server_port}/v1", "model": "boston"}
    (tmp_path / "targets.yml").write_text(yaml.safe_dump({"targets": {"served": entry}}), encoding="utf-8")
    reply = load_target(tmp_path / "targets.yml", "served").ask(Request(ASKED))
    assert reply.text == server.answerer.answer(ASKED)
    assert (reply.model_answered, reply.finish_reason) == ("boston", "stop")
    assert asked(server, "GET", "/v1/models")[1]["data"][0]["id"] == "boston"


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ("{", 400, "The body is no JSON."),
        ("[]", 400, "The body should have a list of messages."),
        ('{"messages": [{"role": "system", "content": "x"}]}', 400, "There should be a message of the role user"),
        ('{"messages": [], "stream": true}', 400, "An answer is sent whole"),
    ],
)  # fmt: skip
def test_a_wrong_request_is_one_sentence(server: Server, body: str, status: int, sentence: str) -> None:
    found, document = asked(server, "POST", "/v1/chat/completions", body)
    assert found == status
    assert sentence in document["error"]["message"]


def test_other_paths_hosts_and_sizes_are_refused(server: Server) -> None:
    assert asked(server, "GET", "/")[0] == 404
    body = '{"messages": [{"role": "user", "content": [{"type": "text", "text": "tacos"}]}]}'
    assert asked(server, "POST", "/v1/other", body)[0] == 404
    assert asked(server, "POST", "/v1/chat/completions", body)[0] == 200
    assert asked(server, "GET", "/v1/models", Host="somewhere.example")[0] == 403
    headers = {"Content-Length": str(2 << 20)}
    assert asked(server, "POST", "/v1/chat/completions", None, **headers)[0] == 413


def test_a_port_that_is_taken_is_one_sentence(server: Server) -> None:
    with pytest.raises(InputError, match="Nothing can be served at port"):
        Server(server.answerer, "again", server.server_port)
