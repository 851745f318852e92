"""A recommender trained from what people write: from a text to the venues that such texts were about.

After LMRec (Shen et al. 2022, arXiv:2201.06224, sections 3.2 and 4.1 to 4.2). It is a system to audit and no part of
auditing: the collector asks it as a target, the command line trains it, and nothing else imports it.
"""
