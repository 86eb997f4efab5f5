"""`clusterlift predict`: what an upgrade of the network would buy."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from harness.analysis.observed.configuration import find_configuration
from harness.analysis.observed.declared import rates as declared_rates
from harness.analysis.predict.outcomes import directory_of
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.rate_curve import rate_curves
from harness.analysis.predict.target import target_of
from harness.analysis.price.price import rank_predicted
from harness.analysis.price.price_list import Offer, PriceList
from harness.commands.command import command
from harness.commands.experiment import require_all_done, run_to_the_end, site_of
from harness.commands.figures import figure_option, write_figure
from harness.commands.prices import cost_option, hour_option, prices_of
from harness.experiments.experiment import Configuration
from harness.experiments.experiment_file import read_experiment
from harness.experiments.runs import results_of
from harness.experiments.throttled import configuration_of, with_throttled
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate, rate_text
from harness.present.prediction import render
from harness.records.predictions import freeze
from harness.runtime.interrupt import interruptible
from harness.terminal import show


def _layout(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else str(Layout.parse(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@command("predict")
@click.argument("baseline")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="RATE",
    help="Rate of the links to buy, such as 2.5gbit; several times for several offers. Without it, the rate "
    "stays, and MTU or layout change alone.",
)
@click.option(
    "--mtu",
    type=click.IntRange(MIN_MTU, MAX_MTU),
    metavar="BYTES",
    help="MTU after the upgrade. [default: the present one]",
)
@click.option(
    "--layout",
    callback=_layout,
    metavar="LAYOUT",
    help="Layout of the data after the upgrade, such as replicated:2. [default: the present one]",
)
@click.option(
    "--copy",
    metavar="CONFIGURATION",
    help="A configuration that was measured on a copy of the data in that layout, over the present links. "
    "Without one, what the layout gains is only estimated.",
)
@click.option(
    "--throttled",
    multiple=True,
    metavar="CONFIGURATION",
    help="A configuration that was measured over slower links, limited or not, all else being equal; "
    "several times for several. The prediction learns from it how long each workload waits for its link.",
)
@click.option(
    "--learn",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="A file of an experiment that has the configuration BASELINE. It is run first, and limits the links "
    "of its hosts by tc for that time, which needs root there and slows all traffic. BASELINE is measured as "
    "it is, and over slower links: of 400mbit and 160mbit, for example, if 1gbit is to become 2.5gbit.",
)
@cost_option(
    "Price of all that the upgrade needs: 350USD for any --link; 2.5gbit=350USD for one of them; or a TOML "
    "file of offers, whose configurations are rates. Repeatable."
)
@hour_option
@figure_option("Draw the times against the rate of the links.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory of the results; with --learn, they are in DIR/NAME, by the `name` in FILE.toml.  "
    "[default: results]",
)
def predict_command(
    baseline: str,
    links: Sequence[str],
    mtu: int | None,
    layout: str | None,
    copy: str | None,
    throttled: Sequence[str],
    learn: Path | None,
    costs: Sequence[str],
    hour: str | None,
    figure: Path | None,
    results: Path | None,
) -> None:
    """Predict the times of BASELINE's workloads over other links, and save the prediction.

    BASELINE is the name of a configuration under --results, or a directory of results files. The prediction
    is saved in its directory `predictions`, as ID.json; the ID is a digest of the content, which shows
    whether anybody changed it. After the upgrade, `clusterlift score` compares it with what was measured.
    """
    if not links and mtu is None and layout is None:
        raise BadInput(
            "predict needs what is to change: --link RATE, --mtu BYTES or --layout LAYOUT"
        )
    if copy is not None and layout is None:
        raise BadInput("--copy needs --layout: the layout of that copy of the data")
    rates = list(dict.fromkeys(parse_rate("--link", link, MAX_BIT_S) for link in links))
    prices = prices_of(costs, hour)
    prices = prices and _for_rates(prices)
    if learn is None:
        results = results or Path("results")
    else:
        if throttled or not rates:
            raise BadInput("--learn needs --link, and measures what --throttled would name")
        results, throttled = _learn(learn, baseline, max(rates), results)
    column = find_configuration(baseline, results)
    slower = [find_configuration(name, results) for name in throttled]
    other = find_configuration(copy, results) if copy is not None else None
    predictor = Predictor.of(column, slower, other)
    present = predictor.baseline.link
    targets = [target_of(present, baseline, rate, mtu, layout) for rate in (rates or (None,))]
    predictions = list(map(predictor.predict, targets))
    offers = rank_predicted(predictions, prices) if prices else ()
    if figure is not None:
        write_figure(figure, "rate_curve", rate_curves(predictor, rates, mtu, layout))
    show(render([freeze(each, directory_of(column)) for each in predictions], offers))


def _for_rates(prices: PriceList) -> PriceList:
    """Return the prices with each rate as a prediction spells it: `2500mbit` is 2.5gbit."""

    def spelt(offer: Offer) -> Offer:
        names = offer.configurations
        rates = names and tuple(rate_text(parse_rate("--cost", name, MAX_BIT_S)) for name in names)
        return replace(offer, configurations=rates)

    return replace(prices, offers=tuple(map(spelt, prices.offers)))


def _learn(
    file: Path, baseline: str, target_bit_s: int, results: Path | None
) -> tuple[Path, tuple[str, ...]]:
    """Run the experiment, and return the directory of its results and the throttled configurations."""
    experiment = read_experiment(file)
    configuration = configuration_of(experiment, baseline)
    experiment, throttled = with_throttled(
        experiment, configuration, _rate_bit_s(configuration), target_bit_s
    )
    site = site_of(experiment, results)
    with interruptible(once=True):
        require_all_done(run_to_the_end(experiment, site, file))
    return results_of(experiment, site), throttled


def _rate_bit_s(configuration: Configuration) -> int:
    """Return the rate of the links of a configuration, or what its name says."""
    if configuration.rate_bit_s:
        return configuration.rate_bit_s
    named = {rate.mbit_s for rate in declared_rates(configuration.name)}
    mbit_s = {float(configuration.speed_mbit_s)} if configuration.speed_mbit_s else named
    if len(mbit_s) != 1:
        raise BadInput(
            f"--learn: the rate of the links of {configuration.name!r} is unknown: give the configuration "
            "a `speed`, or a name that says it, such as 1g"
        )
    return round(10**6 * mbit_s.pop())
