"""Brings the pytest plugin into a pytest that does not find it by itself: PYTEST_PLUGINS names this module below `tilefit record`."""


def pytest_addoption(parser, pluginmanager):
    from . import pytest_plugin
    if not pluginmanager.has_plugin("tilefit") and not pluginmanager.is_registered(pytest_plugin):
        pluginmanager.register(pytest_plugin, "tilefit")
