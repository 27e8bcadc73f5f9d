"""Fetching a benchmark's release from the Hugging Face hub.

The token is the one that ``hf auth login`` keeps, or ``HF_TOKEN``. What the hub refuses becomes
one sentence that says what to do. The hub's client keeps a record beside the files, so that an
interrupted download goes on where it stopped.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from loguru import logger

from video_reasoning.tasks.benchmarks import BENCHMARKS
from video_reasoning.tasks.errors import ReleaseError
from video_reasoning.tasks.release.source import (
    ANNOTATION_SUFFIXES,
    ARCHIVE_SUFFIXES,
    VIDEO_SUFFIXES,
)

PAGE = "https://huggingface.co/datasets/{repository}"


REPOSITORIES = {each.name: each.repositories for each in BENCHMARKS.values() if each.repositories}
"""Benchmark -> the repositories that hold it."""


def fetch(benchmark: str, scratch: Path, *, revision: str | None = None) -> Path:
    """Downloads a benchmark's repositories.

    Args:
        benchmark: "blackswan" or "tvbench".
        scratch: folder in which a folder ``hub`` is made, with one folder per repository. Files
            that are there already with the right content are not fetched again.
        revision: branch, tag or commit of every repository; None for the newest.

    Returns:
        The folder with one folder per repository, to be read like any release.

    Raises:
        ReleaseError: if the benchmark is not on the hub, or a repository that is needed cannot
            be had (no access, no connection, no space); the message says what to do.
    """
    if benchmark not in REPOSITORIES:
        raise ReleaseError(
            BENCHMARKS[benchmark].elsewhere
            or f"{benchmark} is not on the hub; name the release's folder with --source."
        )
    folder = scratch / "hub"
    for repository in REPOSITORIES[benchmark]:
        try:
            _snapshot(repository.name, folder / repository.name.replace("/", "--"), revision)
        except Exception as error:
            sentence = refusal(benchmark, repository.name, error, revision)
            if sentence is None:
                raise
            if repository.needed:
                raise ReleaseError(sentence) from error
            logger.warning(f"Going on without {repository.name}: {sentence}")
    return folder


def fetched_from(benchmark: str, folder: Path) -> str:
    """Names the repositories and commits of what :func:`fetch` left in a folder."""
    parts = []
    for repository in REPOSITORIES[benchmark]:
        own = folder / repository.name.replace("/", "--")
        # The hub's client writes the commit into the first line of the record of each file.
        record = next(own.glob(".cache/huggingface/download/**/*.metadata"), None)
        if record is not None:
            commit = record.read_text(encoding="utf-8").partition("\n")[0].strip()
            parts.append(f"{repository.name}@{commit[:12]}")
        elif own.is_dir():
            parts.append(repository.name)
    return f"the hub ({', '.join(parts)})"


def _snapshot(repository: str, folder: Path, revision: str | None) -> None:
    from huggingface_hub import snapshot_download

    wanted = [f"*{suffix}" for suffix in (*ANNOTATION_SUFFIXES, *VIDEO_SUFFIXES, *ARCHIVE_SUFFIXES)]
    snapshot_download(
        repository,
        repo_type="dataset",
        revision=revision,
        local_dir=folder,
        allow_patterns=sorted(wanted),
    )


def refusal(
    benchmark: str, repository: str, error: BaseException, revision: str | None = None
) -> str | None:
    """Says in one sentence why a repository cannot be had and what to do.

    Args:
        benchmark: the benchmark it belongs to.
        repository: owner and name.
        error: what the hub's client raised.
        revision: the revision that was asked for.

    Returns:
        The sentence, or None for an error that is not about access, connection or space.
    """
    from huggingface_hub import errors

    page = PAGE.format(repository=repository)
    by_hand = f"or name a copy that you have: `video-reasoning prepare {benchmark} --source FOLDER`"
    causes = list(_causes(error))
    if any(isinstance(cause, errors.GatedRepoError) for cause in causes):
        return (
            f"The hub refuses {repository} because access to it is granted on request: request "
            f"it at {page}, run `hf auth login`, and run the command again ({by_hand})."
        )
    if any(isinstance(cause, errors.RevisionNotFoundError) for cause in causes):
        return f"{repository} has no revision {revision}; see {page}/commits/main for those it has."
    if any(isinstance(cause, errors.RepositoryNotFoundError) for cause in causes):
        return (
            f"The hub knows no {repository}, or hides it from who is not logged in: look at "
            f"{page}, run `hf auth login`, and run the command again ({by_hand})."
        )
    if any(_is_full(cause) for cause in causes):
        return (
            f"There is no space left for {repository}: free some, or set VIDEO_REASONING_HOME to "
            "a folder on a larger disk, and run the command again; it goes on where it stopped."
        )
    status = next(
        (
            cause.response.status_code
            for cause in causes
            if isinstance(cause, errors.HfHubHTTPError) and cause.response is not None
        ),
        None,
    )
    if status in (401, 403):
        return (
            f"The hub refuses {repository} (status {status}): request access at {page}, run "
            f"`hf auth login`, and run the command again ({by_hand})."
        )
    if status is not None:
        return (
            f"The hub cannot serve {repository} now (status {status}): run the command again "
            f"later, it goes on where it stopped ({by_hand})."
        )
    if any(_is_offline(cause) for cause in causes):
        offline = " (HF_HUB_OFFLINE is set)" if _offline_by_choice() else ""
        return (
            f"The hub cannot be reached for {repository}{offline}: run the command again with a "
            f"connection, {by_hand}."
        )
    return None


def _causes(error: BaseException | None) -> list[BaseException]:
    """An error and those that led to it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _is_offline(error: BaseException) -> bool:
    """Whether an error is one of those that clients raise without a connection."""
    from huggingface_hub import errors

    if isinstance(error, (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled)):
        return True
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    # The client is httpx or requests, depending on the hub library's version.
    names = {base.__name__ for base in type(error).__mro__}
    return bool(names & {"ConnectError", "ConnectionError", "TimeoutException", "Timeout"})


def _offline_by_choice() -> bool:
    return os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}
