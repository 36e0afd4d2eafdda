# SPDX-License-Identifier: Apache-2.0
"""Connect to the cluster that the user names ("tcp://host:8786", "local:4"), or report what is wrong in one message.

Only this room needs Dask: the rest of the lab works without it.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from flashbed.common.digest import identity
from flashbed.common.errors import InputError, SetupError

if TYPE_CHECKING:
    from distributed import Client

    from flashbed.cluster.site import Cluster

ANSWERS_WITHIN_S = 10
"""Seconds in which a scheduler must answer."""

FORMS = "give the address of a Dask scheduler, such as tcp://HOST:8786, or local:N for N workers on this host"

LOCAL_WORKER = "flashbed.cluster.worker"

_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_ADDRESS = re.compile(r"(tcp|tls)://[^/\s]+:\d+")


def check(workers: str) -> None:
    """Raise InputError for an invalid name of a cluster."""
    if not _LOCAL.fullmatch(workers) and not _ADDRESS.fullmatch(workers):
        raise InputError(f"--workers {workers}: {FORMS}")


@contextmanager
def connected(workers: str, most: int | None = None) -> Iterator[Cluster]:
    """Yield the cluster of that name, with `most` guests at a time. A local cluster ends with the block.

    Raises InputError, and SetupError if Dask is not installed, no scheduler answers, or another lab is installed there.
    """
    check(workers)
    try:
        from distributed import Client, LocalCluster

        from flashbed.cluster.site import Cluster
    except ModuleNotFoundError as error:
        raise SetupError(
            f"--workers needs Dask ({error.name} is not installed): `{sys.executable} -m pip install distributed`"
        ) from None
    for name in ("distributed", "distributed.client"):  # the lab itself reports lost workers and schedulers
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as held:
        if local := _LOCAL.fullmatch(workers):
            # The workers' own memory is small, and Dask must not limit their guests'
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
            except TypeError as error:  # Dask raises it if tls:// has no certificates
                raise SetupError(
                    f"{workers}: Dask cannot connect ({_line(error)}); tls:// needs certificates in Dask's own "
                    "configuration: https://distributed.dask.org/en/stable/tls.html"
                ) from None
            except (OSError, TimeoutError, ValueError) as error:
                raise SetupError(
                    f"{workers}: no Dask scheduler answers there ({_line(error)}); `dask scheduler` starts one and "
                    "prints its address"
                ) from None
        _check_labs(client)
        yield Cluster(client, most)


def _check_labs(client: Client) -> None:
    """Raise SetupError if the scheduler or a worker does not have this lab. A worker that joins later checks itself."""
    from flashbed.cluster.file_store import Keeper
    from flashbed.cluster.site import NO_LAB
    from flashbed.cluster.worker import other_lab

    def check(host: str, answer: object) -> None:
        if isinstance(answer, BaseException):
            raise SetupError(f"{host}: {NO_LAB.format(_line(answer))}")
        if answer != identity():
            raise SetupError(f"{host}: {other_lab(identity(), str(answer))}")

    try:
        of_scheduler: object = client.run_on_scheduler(identity)
    except Exception as error:
        of_scheduler = error
    check("the scheduler", of_scheduler)
    client.register_plugin(Keeper())
    for address, answer in sorted(client.run(identity, on_error="return").items()):
        check(f"worker {address}", answer)


def _line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
