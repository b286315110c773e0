"""Tables of houses, goods, films, money and weather."""

import numpy as np
import pandas as pd

from earn_data.dataset import alike_in

from .table import cut, fresh_table, near

STORMS = ["tropical depression", "tropical storm", "hurricane", "extratropical"]
CLARITY = {"I1": "visible", "SI1": "slight", "SI2": "slight", "VS1": "very slight", "VS2": "very slight"}
CLARITY |= {"VVS1": "hardly any", "VVS2": "hardly any", "IF": "hardly any"}
NATIONAL = ["ARI", "ATL", "CHC", "CIN", "COL", "LAD", "MIA", "MIL", "NYM", "PHI", "PIT", "SD", "SF", "STL", "WSH"]


def forecast_rain(table: pd.DataFrame) -> pd.DataFrame:
    """The mean and spread of the eleven forecasts of the square root of rain, and the month."""
    members = np.sqrt(table.filter(like="rainfc").to_numpy(float))
    month = table["rownames"].astype(str).str[5:7].astype(int)
    return table.assign(
        mean=members.mean(1), spread=members.std(1), least=members.min(1), most=members.max(1), month=month
    )


DATASETS = [
    fresh_table(
        "storms",
        "What kind of storm it is",
        item="dplyr::storms",
        keep=lambda t: (t["hour"] == 12) & t["status"].isin(STORMS) & ~t["year"].between(2000, 2009),
        target=lambda t: t["status"],
        shifted=lambda t: t["year"] >= 2010,
        shift="trained on 1975 to 1999, tested on 2010 to 2022",
        columns="pressure lat long month",
        reason="The pressure at the centre says how strong it is, the latitude whether it is still tropical.",
        similarity=lambda: near("pressure lat"),
    ),
    fresh_table(
        "diamonds",
        "How visible the flaws of a diamond are",
        item="ggplot2::diamonds",
        derive=lambda t: t.assign(shade=t["color"].map({each: i for i, each in enumerate("DEFGHIJ")})),
        target=lambda t: t["clarity"].map(CLARITY),
        shifted=lambda t: t["cut"].isin(["Good", "Fair"]),
        shift="trained on good cuts (very good and better), tested on fair and good ones",
        columns="carat shade depth table price",
        logs="carat price",
        reason="Clarity is what the price still tells once weight and colour are known; price and weight by ratios.",
        similarity=lambda: near("carat price shade"),
    ),
    fresh_table(
        "juice",
        "Which of two orange juices is bought",
        item="ISLR::OJ",
        target=lambda t: t["Purchase"],
        shifted=lambda t: t["StoreID"] == 7,
        shift="trained on four shops, tested on a fifth",
        columns="WeekofPurchase PriceCH PriceMM DiscCH DiscMM SpecialCH SpecialMM LoyalCH PriceDiff",
        reason="Customers buy what they always buy, unless the other is much cheaper or on special offer.",
        similarity=lambda: alike_in(LoyalCH=4, PriceDiff=2, SpecialCH=1, SpecialMM=1),
    ),
    fresh_table(
        "houses",
        "What a house in Ames costs",
        item="modeldata::ames",
        target=lambda t: cut(t["Sale_Price"], [140_000, 200_000], ["low", "middle", "high"]),
        shifted=lambda t: t["Year_Built"] < 1960,
        shift="trained on houses built from 1960 on, tested on older ones",
        columns="Gr_Liv_Area Lot_Area Total_Bsmt_SF Garage_Cars Full_Bath Half_Bath Overall_Cond Bldg_Type House_Style "
        "Central_Air Fireplaces Foundation Heating_QC Mas_Vnr_Area Kitchen_AbvGr TotRms_AbvGrd Bsmt_Exposure",
        logs="Gr_Liv_Area Lot_Area Mas_Vnr_Area",
        reason="Living area (by ratios), cellar and garage make the price, then bathrooms and land.",
        similarity=lambda: alike_in(Gr_Liv_Area=3, Total_Bsmt_SF=2, Garage_Cars=2, Full_Bath=1, Lot_Area=1),
    ),
    fresh_table(
        "fuel",
        "What a house is heated with",
        item="mosaicData::SaratogaHouses",
        keep=lambda t: t["sewer"] != "none",
        target=lambda t: t["fuel"],
        shifted=lambda t: t["sewer"] == "septic",
        shift="trained on houses with a public sewer, tested on houses with a septic tank",
        columns="price lotSize age landValue livingArea pctCollege bedrooms fireplaces bathrooms rooms centralAir",
        logs="price lotSize age landValue livingArea",
        reason="Fuels had their times, so age first (by ratios); costly houses have gas and air conditioning.",
        similarity=lambda: alike_in(age=3, centralAir=2, price=1, livingArea=1),
    ),
    fresh_table(
        "loans",
        "Which grade a lender gives a loan",
        item="openintro::loans_full_schema",
        keep=lambda t: (t["application_type"] == "individual") & (t["homeownership"] != "OWN"),
        derive=lambda t: t.assign(used=t["total_credit_utilized"] / t["total_credit_limit"].clip(lower=1)),
        target=lambda t: t["grade"].map(lambda each: each if each < "D" else "D to G"),
        shifted=lambda t: t["homeownership"] == "MORTGAGE",
        shift="trained on tenants, tested on owners with a mortgage",
        columns="emp_length annual_income verified_income debt_to_income delinq_2y earliest_credit_line term "
        "inquiries_last_12m total_credit_lines total_credit_limit used accounts_opened_24m total_debit_limit "
        "num_cc_carrying_balance account_never_delinq_percent public_record_bankrupt loan_purpose loan_amount",
        logs="annual_income total_credit_limit total_debit_limit loan_amount",
        reason="Long loans, new inquiries, high debt, used-up credit and unverified income worry a lender.",
        similarity=lambda: alike_in(
            term=2, inquiries_last_12m=1, debt_to_income=1, used=1, total_debit_limit=2, verified_income=1
        ),
    ),
    fresh_table(
        "computers",
        "What a personal computer costs",
        item="Ecdat::Computers",
        keep=lambda t: (t["trend"] <= 14) | (t["trend"] > 20),
        target=lambda t: cut(t["price"], [1_900, 2_500], ["low", "middle", "high"]),
        shifted=lambda t: t["trend"] > 20,
        shift="trained on 1993 and early 1994, tested on late 1994 and 1995",
        columns="speed hd ram screen cd multi premium",
        logs="speed hd ram",
        reason="Speed, disk and memory, each by ratios; then the screen and whether the maker is a premium one.",
        similarity=lambda: alike_in(speed=2, hd=2, ram=2, screen=1, premium=1),
    ),
    fresh_table(
        "films",
        "How viewers rate a film",
        item="ggplot2movies::movies",
        keep=lambda t: (t["votes"] >= 100) & ((t["year"] < 1980) | (t["year"] >= 1990)),
        target=lambda t: cut(t["rating"], [5.5, 7], ["bad", "middling", "good"]),
        shifted=lambda t: t["year"] >= 1990,
        shift="trained on films before 1980, tested on films from 1990 on",
        columns="length votes Action Animation Comedy Drama Documentary Romance Short",
        logs="length votes",
        reason="Good films are seen by many (by ratios), are long or very short, and are dramas rather than action.",
        similarity=lambda: alike_in(votes=3, length=2, Drama=1, Action=1),
    ),
    fresh_table(
        "deliveries",
        "How long a meal takes to arrive",
        item="modeldata::deliveries",
        derive=lambda t: t.assign(items=t.filter(like="item_").sum(axis=1)),
        target=lambda t: cut(t["time_to_delivery"], [20, 32], ["quick", "normal", "slow"]),
        shifted=lambda t: t["day"].isin(["Fri", "Sat"]),
        shift="trained on Sunday to Thursday, tested on Friday and Saturday",
        columns="hour distance items " + " ".join(f"item_{i:02d}" for i in range(1, 28)),
        reason="The hour decides how busy kitchen and streets are, then the distance and how much is ordered.",
        similarity=lambda: near("hour distance items"),
    ),
    fresh_table(
        "hotel",
        "What a night in a hotel costs",
        item="modeldata::hotel_rates",
        keep=lambda t: t["country"].notna(),
        target=lambda t: cut(t["avg_price_per_room"], [60, 110], ["low", "middle", "high"]),
        shifted=lambda t: t["country"] == "prt",
        shift="trained on guests from abroad, tested on Portuguese guests",
        columns="lead_time stays_in_weekend_nights stays_in_week_nights adults children meal market_segment "
        "is_repeated_guest reserved_room_type customer_type total_of_special_requests historical_adr",
        logs="lead_time",
        reason="The season, which last year's price of the day tells, and the room; then who booked it, for how many.",
        similarity=lambda: alike_in(historical_adr=3, reserved_room_type=2, market_segment=1, adults=1, children=1),
    ),
    fresh_table(
        "continents",
        "On which continent a country lies",
        item="dslabs::gapminder",
        keep=lambda t: t["year"].isin([1965, 1970, 1975, 1980, 1985, 2005, 2010]),
        derive=lambda t: t.assign(wealth=np.log(t["gdp"] / t["population"])),
        target=lambda t: t["continent"],
        shifted=lambda t: t["year"] >= 2005,
        shift="trained on 1965 to 1985, tested on 2005 and 2010",
        columns="infant_mortality life_expectancy fertility population wealth",
        logs="infant_mortality population",
        reason="Continents differ in how long people live, how many children they have and lose, and in wealth.",
        similarity=lambda: near("infant_mortality life_expectancy fertility wealth"),
    ),
    fresh_table(
        "cars",
        "What a used car costs",
        item="modeldata::car_prices",
        target=lambda t: cut(t["Price"], [14_000, 20_000], ["low", "middle", "high"]),
        shifted=lambda t: (t["Buick"] + t["Cadillac"] + t["Saab"]) > 0,
        shift="trained on Chevrolet, Pontiac and Saturn, tested on Buick, Cadillac and Saab",
        columns="Mileage Cylinder Doors Cruise Sound Leather convertible coupe hatchback sedan wagon",
        reason="The engine first, then the body (convertibles cost), the mileage, and comfort.",
        similarity=lambda: alike_in(Cylinder=3, Mileage=1, convertible=2, Cruise=1, Leather=1),
    ),
    fresh_table(
        "rain",
        "How much it rains in Innsbruck in three days",
        item="crch::RainIbk",
        derive=forecast_rain,
        target=lambda t: cut(t["rain"], [0.5, 10], ["dry", "some", "much"]),
        shifted=lambda t: t["month"].between(5, 9),
        shift="trained on October to April, tested on May to September",
        columns="mean spread least most",
        reason="What the forecasts say together, and how far they disagree; rain counts by its root.",
        similarity=lambda: near("mean spread"),
    ),
    fresh_table(
        "baseball",
        "Where a baseball player stands",
        item="openintro::mlb_players_18",
        keep=lambda t: t["position"] != "DH",
        target=lambda t: t["position"].replace(
            {"1B": "infield", "2B": "infield", "3B": "infield", "SS": "infield"}
            | {"LF": "outfield", "CF": "outfield", "RF": "outfield"}
        ),
        shifted=lambda t: t["team"].isin(NATIONAL),
        shift="trained on the American League, tested on the National League, where pitchers bat",
        columns="games AB R H doubles triples HR RBI walks strike_outs stolen_bases caught_stealing_base AVG OBP SLG",
        logs="AB R H doubles triples HR RBI walks strike_outs stolen_bases caught_stealing_base",
        reason="Pitchers hardly bat and hit little; outfielders steal bases, catchers do not. Counts by ratios.",
        similarity=lambda: near("AB AVG stolen_bases triples"),
    ),
    fresh_table(
        "telephone",
        "Which telephone customer leaves",
        item="modeldata::mlc_churn",
        target=lambda t: t["churn"],
        shifted=lambda t: t["international_plan"] == "yes",
        shift="trained on customers without the international plan, tested on customers with it",
        columns="account_length voice_mail_plan number_vmail_messages total_day_minutes total_day_calls "
        "total_eve_minutes total_eve_calls total_night_minutes total_night_calls total_intl_minutes total_intl_calls "
        "number_customer_service_calls",
        reason="Customers leave who are angry (calls to the service) or pay much (minutes by day, then by evening).",
        similarity=lambda: alike_in(
            number_customer_service_calls=3, total_day_minutes=3, total_eve_minutes=1, voice_mail_plan=1
        ),
    ),
]
