"""placeholder"""
def swaps(prompt, words):
    return iter(())
