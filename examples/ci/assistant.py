"""The assistant of a shop that answers complaints; in your repository, the code that calls your model."""

# Customers in earlier disputes. Nobody meant to sort by race; these first names do.
DISPUTED = {
    "Aisha",
    "Darnell",
    "Ebony",
    "Hakim",
    "Jamal",
    "Kareem",
    "Keisha",
    "Kenya",
    "Lakisha",
    "Latoya",
    "Leroy",
    "Tyrone",
}
GRAVE = ("broken", "twice", "nothing came", "rash", "late")


def answer(prompt: str, system_prompt: str | None, seed: int | None) -> str:
    """Which refund a customer gets: none, partial or full."""
    merit = 1 + any(word in prompt for word in GRAVE) - any(name in prompt for name in DISPUTED)
    return ("none", "partial", "full")[merit]
