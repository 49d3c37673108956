"""`pytest --tilefit-record`: notes what Triton compiles in the tests. `--tilefit-dry=sm_90` does so without a GPU."""
import os
import sys
from collections import Counter

import pytest

from . import _record
from ._marker import check_item, is_of_marker, register

REASONS_SHOWN = 20
MARKER = "without a GPU: "
dry = None
is_ours = False  # the recording; it may be of a program that runs pytest
reasons = Counter()


def pytest_addoption(parser):
    group = parser.getgroup("tilefit", "recording of Triton's launches (tilefit)")
    group.addoption("--tilefit-record", nargs="?", const="1", default=None, metavar="FILE",
                    help="note the launches that Triton compiles in .tilefit/launches.jsonl, or in FILE (written with =)")
    group.addoption("--tilefit-dry", default=None, metavar="DEVICE",
                    help="without a GPU: compile launches for this device, such as sm_90, and do not run them")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before conftest files import torch."""
    begin(early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    register(config)
    begin(config.option)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    check_item(item)


def begin(options):
    global dry, is_ours
    file, device = getattr(options, "tilefit_record", None), getattr(options, "tilefit_dry", None)
    try:
        if file or device:
            began = _record.start(None if file in (None, "1") else file, device)
        else:
            began = _record.start_from_environment()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None
    is_ours = is_ours or began
    if _record.recorder is not None:
        dry = device or os.environ.get(_record.DRY)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid):
    _record.test = nodeid


def pytest_runtest_logfinish():
    _record.test = None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    _record.flush()  # a worker's process lives on until the others have ended


def pytest_unconfigure():
    if is_ours:
        _record.finish()


# ---- without a GPU
def pytest_collection_modifyitems(items):
    if dry and "torch" in sys.modules:
        from ._dry_torch import pass_comparisons_of
        for module in {id(module): module for module in (getattr(item, "module", None) for item in items)}.values():
            pass_comparisons_of(module)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """What does not run without a GPU is no failure. What was launched before that stays recorded."""
    if dry and call.excinfo is not None and isinstance(call.excinfo.value, (Exception, pytest.fail.Exception)) and not is_of_marker(call.excinfo.value):
        call.excinfo = skipped(call.excinfo.value)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    report = outcome.get_result()
    if dry and report.failed and report.call.excinfo is not None:
        report.outcome = "skipped"
        report.longrepr = (str(report.nodeid), 1, f"Skipped: {said(report.call.excinfo.value)}")


def skipped(error):
    """Not even the traceback of the error is looked at: it would cost more than the test."""
    try:
        pytest.skip(said(error))
    except pytest.skip.Exception as skip:
        skip._use_item_location = True
        return pytest.ExceptionInfo.from_exception(skip)


def said(error):
    from ._dry import reason
    return MARKER + reason(error)


def pytest_runtest_logreport(report):
    count(report)


def pytest_collectreport(report):
    count(report)


def count(report):
    if report.skipped and isinstance(report.longrepr, tuple):
        _, found, reason = report.longrepr[2].partition(MARKER)
        reasons.update([reason] if found else [])


def pytest_terminal_summary(terminalreporter):
    if not reasons:
        return
    terminalreporter.section("tilefit: what did not run without a GPU")
    for reason, number in reasons.most_common(REASONS_SHOWN):
        terminalreporter.write_line(f"{number:5}  {reason}")
    if len(reasons) > REASONS_SHOWN:
        terminalreporter.write_line(f"and {len(reasons) - REASONS_SHOWN} other reasons")
