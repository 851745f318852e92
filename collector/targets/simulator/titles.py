"""The words of the simulator's titles: a first and a second one, none of which describes people.

No two words of a list are within two letters of each other, so that fuzzy matching does not merge titles that differ.
"""

from __future__ import annotations

FIRST_WORDS: tuple[str, ...] = tuple(
    """
    Silent Golden Amber Distant Electric Crimson Hidden Burning Frozen Midnight Restless Velvet Hollow Paper Crystal
    Endless Scattered Sleeping Wandering Forgotten Drifting Copper Emerald Thunder Lunar Gentle Secret Borrowed Perpetual
    Whispered Floating Painted Magnetic Sapphire Lonesome Harvest Marble Neon Plastic Radiant Savage Tangled Unwritten
    Vanishing Bamboo Cobalt Delicate Faraway Invisible Luminous
    """.split()
)

SECOND_WORDS: tuple[str, ...] = tuple(
    """
    River Mountain Garden Horizon Mirror Highway Lantern Shadow Harbour Orchard Carnival Avenue Compass Feather Kingdom
    Labyrinth Prairie Notebook Ocean Parade Quarry Rooftop Staircase Telegraph Umbrella Village Window Archive Blizzard
    Cathedral Daybreak Echo Waterfall Gallery Hurricane Island Journey Kaleidoscope Lighthouse Monument Nightfall
    Observatory Pendulum Railway Satellite Tapestry Universe Voyage Whirlpool Bicycle
    """.split()
)
