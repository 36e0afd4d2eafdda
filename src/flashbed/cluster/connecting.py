# SPDX-License-Identifier: Apache-2.0
"""From what the user calls a cluster ("tcp://host:8786", "local:4") to a site, or one message that says what is wrong.

Needs Dask only here and below: without it the rest of the lab works.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from flashbed.cluster import lab
from flashbed.common.errors import InputError, SetupError

if TYPE_CHECKING:
    from distributed import Client

    from flashbed.cluster.site import Cluster

ANSWERS_WITHIN_S = 10
"""A scheduler, to who asks for it."""

FORMS = "give the address of a Dask scheduler, such as tcp://HOST:8786, or local:N for N workers on this host"

LOCAL_WORKER = "flashbed.cluster.local_worker"

_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d+")


def check(workers: str) -> None:
    """Raises InputError for what is no name of a cluster."""
    if not _LOCAL.fullmatch(workers) and not _ADDRESS.fullmatch(workers):
        raise InputError(f"--workers {workers}: {FORMS}")


@contextmanager
def connected(workers: str, most: int | None = None) -> Iterator[Cluster]:
    """The cluster of that name, `most` guests at a time; one that was begun here ends with the block.

    Raises InputError; SetupError if Dask is not installed, if no scheduler answers, or for another lab there.
    """
    check(workers)
    try:
        from distributed import Client, LocalCluster

        from flashbed.cluster.site import Cluster
    except ModuleNotFoundError as error:
        raise SetupError(
            f"--workers needs Dask ({error.name} is not installed): `{sys.executable} -m pip install distributed`"
        ) from None
    for name in ("distributed", "distributed.client"):  # of lost workers and schedulers the lab tells itself
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as held:
        if local := _LOCAL.fullmatch(workers):
            # The workers' own memory is small; their guests' is not Dask's to watch
            how = {
                "threads_per_worker": 1,
                "memory_limit": 0,
                "dashboard_address": "127.0.0.1:0",
                "preload": LOCAL_WORKER,
            }
            cluster = held.enter_context(LocalCluster(int(local[1]), **how))
            client = held.enter_context(Client(cluster, set_as_default=False))
        else:
            try:
                client = held.enter_context(Client(workers, timeout=ANSWERS_WITHIN_S, set_as_default=False))
            except TypeError as error:  # what Dask raises where tls:// has no certificates
                raise SetupError(
                    f"{workers}: Dask cannot connect ({_line(error)}); tls:// needs certificates in Dask's own "
                    "configuration: https://distributed.dask.org/en/stable/tls.html"
                ) from None
            except (OSError, TimeoutError, ValueError) as error:
                raise SetupError(
                    f"{workers}: no Dask scheduler answers there ({_line(error)}); `dask scheduler` starts one, and "
                    "says its address"
                ) from None
        _check_labs(client)
        yield Cluster(client, most)


def _check_labs(client: Client) -> None:
    """Raises SetupError if the scheduler or a worker has not this lab. A worker that comes later looks itself."""
    from flashbed.cluster.scheduler_plugin import Keeper
    from flashbed.cluster.site import NO_LAB
    from flashbed.cluster.worker import other_lab

    def told(where: str, found: object) -> None:
        if isinstance(found, BaseException):
            raise SetupError(f"{where}: {NO_LAB.format(_line(found))}")
        if found != lab.identity():
            raise SetupError(f"{where}: {other_lab(lab.identity(), str(found))}")

    try:
        found: object = client.run_on_scheduler(lab.identity)
    except Exception as error:
        found = error
    told("the scheduler", found)
    client.register_plugin(Keeper())
    for address, answer in sorted(client.run(lab.identity, on_error="return").items()):
        told(f"worker {address}", answer)


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
