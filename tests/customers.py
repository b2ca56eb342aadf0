"""What the columns of the table of customers truly are."""

CUSTOMER_ROLES = {
    "customer_id": "identifier",
    "invoice_number": "identifier",
    "plan": "signal",
    "tenure_months": "signal",
    "support_calls": "signal",
    "city": "signal of high cardinality",
    "age": "signal, weak",
    "exit_survey_sent": "leak",
    "favourite_colour": "noise",
    "browser_build": "noise of high cardinality",
    "lucky_number": "noise",
}
