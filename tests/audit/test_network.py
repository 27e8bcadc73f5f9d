"""Aggregations reach no other machine."""

from __future__ import annotations

import socket
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from video_reasoning.tasks.audit.network import (
    NetworkBlockedError,
    blocked_network,
    sends,
    writes_submission,
)
from video_reasoning.tasks.audit.scores import Metric, read_scores

SERVER = "http://validation.example.invalid/upload"


def post(items: list[Any]) -> float:
    """Try again and again, as EgoSchema's does."""
    for _ in range(8):
        try:
            urllib.request.urlopen(SERVER, timeout=1)
        except Exception:
            continue
    return 1.0


def in_a_pool(items: list[Any]) -> Any:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(post, [items, items]))


@pytest.mark.parametrize("function", [post, in_a_pool])
def test_another_machine_is_not_reached_and_is_named(function: Any) -> None:
    with (
        pytest.raises(NetworkBlockedError, match=r"reach validation\.example\.invalid"),
        blocked_network(),
    ):
        function([])


def test_this_machine_and_other_threads_are_reached() -> None:
    seen: list[BaseException] = []

    def elsewhere() -> None:
        try:
            socket.getaddrinfo("validation.example.invalid", 80)
        except BaseException as error:
            seen.append(error)

    other = threading.Barrier(2)
    thread = threading.Thread(target=lambda: (other.wait(), elsewhere()))
    thread.start()
    with socket.create_server(("127.0.0.1", 0)) as server, blocked_network():
        socket.create_connection(server.getsockname(), timeout=5).close()
        other.wait()
        thread.join()
    assert not isinstance(seen[0], NetworkBlockedError)
    elsewhere()
    assert not isinstance(seen[1], NetworkBlockedError)


def test_senders_are_seen_by_their_source() -> None:
    def plain(items: list[Any]) -> float:
        return sum(items)

    def calls(items: list[Any], args: Any) -> float:
        return post(items)

    assert sends(post) and sends(calls) and not sends(plain) and not writes_submission(plain)


def test_a_score_of_one_item_sends_nothing() -> None:
    assert read_scores({"acc": {"x": 1}}, [Metric("acc", post)])["acc"].value is None


@pytest.mark.harness
def test_the_harness_tasks_that_send() -> None:
    from lmms_eval.tasks.egoschema import utils

    assert sends(utils.egoschema_aggregate_mc) == "requests"
    assert writes_submission(utils.egoschema_aggregate_mc)
    assert not sends(utils.egoschema_aggregate_score)
