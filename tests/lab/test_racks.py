"""A lab with two racks and an uplink between them."""

import pytest

from harness.cli import main

from .conftest import new_lab, verify_links


@pytest.mark.usefixtures("engine")
def test_the_racks_share_an_uplink() -> None:
    with new_lab("--racks", "2", "--uplink", "400mbit"):
        assert main(["lab", "link", "--rate", "1gbit"]) == 0
        assert verify_links()
