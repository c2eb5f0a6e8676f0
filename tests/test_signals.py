"""Signals as a person or a scheduler sends them: to real processes."""

import os
import signal
import threading

import pytest

from lostcfr.run.signals import Interruption
from numbered_runs import start

# Works in slices until a signal is heard, ends its slice, and says so.
ORDERLY = """
import sys, time
from lostcfr.run.signals import Interruption
with Interruption() as interruption:
    print("working", flush=True)
    while interruption.signal is None:
        time.sleep(0.01)
print("ended", interruption.signal, flush=True)
sys.exit(interruption.exit_code)
"""
# Hears a signal and goes on, as in a slice that takes long.
BUSY = """
import time
from lostcfr.run.signals import Interruption
with Interruption() as interruption:
    print("working", flush=True)
    while interruption.signal is None:
        time.sleep(0.01)
    print("heard", flush=True)
    time.sleep(60)
    print("ended", flush=True)
"""
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_the_first_signal_asks_for_an_orderly_end(number, code):
    with start(ORDERLY) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        assert process.stdout.read() == f"ended {int(number)}\n"
    assert process.returncode == code


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_the_second_signal_ends_at_once(number, code):
    with start(BUSY) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "heard\n"
        process.send_signal(number)
        assert process.stdout.read() == ""
    assert process.returncode == code


def test_without_a_signal_nothing_is_said():
    with Interruption() as interruption:
        assert (interruption.signal, interruption.exit_code) == (None, 0)


def test_the_handlers_before_are_put_back():
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    with Interruption():
        assert [signal.getsignal(number) for number, _ in SIGNALS] != before
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before


def test_the_handlers_are_put_back_after_an_error():
    before = [signal.getsignal(number) for number, _ in SIGNALS]
    with pytest.raises(KeyError), Interruption():
        raise KeyError
    assert [signal.getsignal(number) for number, _ in SIGNALS] == before


def test_a_signal_after_the_end_is_for_the_handler_before():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with Interruption() as interruption:
            pass
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert interruption.signal is None


def test_another_thread_hears_nothing_and_changes_nothing():
    before, during = signal.getsignal(signal.SIGINT), []

    def work():
        with Interruption() as interruption:
            during.extend([signal.getsignal(signal.SIGINT), interruption.exit_code])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert during == [before, 0]
