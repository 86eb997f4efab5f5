"""Packages of the wheel: `jobs`, `datagen` and `harness` of the checkout are inside `clusterlift` there.

The rest is in pyproject.toml, which cannot give packages that are found a prefix.
"""

from tempfile import TemporaryDirectory

from setuptools import find_packages, setup

PACKAGES = ("jobs", "datagen", "harness")
found = find_packages(include=[f"{name}*" for name in PACKAGES])

# A directory `build` that stays would put modules into the next wheel that were removed meanwhile.
with TemporaryDirectory() as build:
    setup(
        packages=["clusterlift", *(f"clusterlift.{name}" for name in found)],
        package_dir={f"clusterlift.{name}": name for name in PACKAGES},
        options={"build": {"build_base": build}},
    )
