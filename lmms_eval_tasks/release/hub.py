"""Fetching a benchmark's release from the Hugging Face Hub.

The token is the one that ``hf auth login`` keeps, or ``HF_TOKEN``. What the Hub refuses becomes
one sentence that says what to do. The Hub's client keeps a record beside the files, so that an
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
    """Download a benchmark's repositories.

    Args:
        benchmark: "blackswan" or "tvbench".
        scratch: Folder in which a folder ``hub`` is made, with one folder per repository. Files
            that are there already with the right content are not fetched again.
        revision: Branch, tag or commit of every repository; None for the newest.

    Returns:
        The folder with one folder per repository, to be read like any release.

    Raises:
        ReleaseError: If the benchmark is not on the Hub, or a repository that is needed cannot
            be fetched (no access, no connection, no space); the message says what to do.
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
    """Name the repositories and commits of what :func:`fetch` left in a folder."""
    parts = []
    for repository in REPOSITORIES[benchmark]:
        own = folder / repository.name.replace("/", "--")
        # The Hub's client writes the commit into the first line of the record of each file.
        record = next(own.glob(".cache/huggingface/download/**/*.metadata"), None)
        if record is not None:
            commit = record.read_text(encoding="utf-8").partition("\n")[0].strip()
            parts.append(f"{repository.name}@{commit[:12]}")
        elif own.is_dir():
            parts.append(repository.name)
    return f"the Hub ({', '.join(parts)})"


def _snapshot(repository: str, folder: Path, revision: str | None) -> None:
    from huggingface_hub import snapshot_download

    # Archives that are not unpacked are fetched all the same, to be named and unpacked by hand.
    wanted = [f"*{suffix}" for suffix in (*ANNOTATION_SUFFIXES, *VIDEO_SUFFIXES, *ARCHIVE_SUFFIXES)]
    wanted += ["*.zip.*", "*.z[0-9][0-9]", "*.tar.*", "*.t[gx]z.*", "*.7z*", "*.rar", "*.zst"]
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
    """Say in one sentence why a repository cannot be fetched and what to do.

    Args:
        benchmark: The benchmark it belongs to.
        repository: Owner and name.
        error: What the Hub's client raised.
        revision: The revision that was asked for.

    Returns:
        The sentence, or None for an error that is not about access, connection or space.
    """
    from huggingface_hub import errors

    page = PAGE.format(repository=repository)
    by_hand = f"or name a copy of your own: `video-reasoning prepare {benchmark} --source FOLDER`"
    causes = list(_causes(error))
    if any(isinstance(cause, errors.GatedRepoError) for cause in causes):
        return (
            f"Access to {repository} is granted on request: request it at {page}, run "
            f"`hf auth login`, and run the command again ({by_hand})."
        )
    if any(isinstance(cause, errors.RevisionNotFoundError) for cause in causes):
        return f"{repository} has no revision {revision}; see {page}/commits/main for those it has."
    if any(isinstance(cause, errors.RepositoryNotFoundError) for cause in causes):
        return (
            f"{repository} was not found on the Hub, or it is private: look at {page}, run "
            f"`hf auth login`, and run the command again ({by_hand})."
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
            f"The Hub refuses {repository} (status {status}): request access at {page}, run "
            f"`hf auth login`, and run the command again ({by_hand})."
        )
    if status is not None:
        return (
            f"The Hub cannot serve {repository} now (status {status}): run the command again "
            f"later, it goes on where it stopped ({by_hand})."
        )
    if any(_is_offline(cause) for cause in causes):
        offline = " (HF_HUB_OFFLINE is set)" if _offline_by_choice() else ""
        return (
            f"The Hub cannot be reached for {repository}{offline}: run the command again with a "
            f"connection, {by_hand}."
        )
    return None


def _causes(error: BaseException | None) -> list[BaseException]:
    """Return an error and those that led to it."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def _is_offline(error: BaseException) -> bool:
    """Tell whether an error is one of those that clients raise without a connection."""
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
