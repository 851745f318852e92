"""Read answers: `replies.classify` gives each reply a status, and the decision, list or text in it.

It sets aside earlier turns (turns), reasoning (reasoning), error messages (failures), and refusals (texts/languages,
json_refusals).
The rest is read by the kind of answer:

- label: decisions/labels. JSON (json_decisions), the audit's own pattern, then prose (stated_labels, prose_labels)
- score, amount of money: decisions/scores. The same order; json_units, score_candidates and prose_scores read amounts
- ranking: decisions/rankings
- list: recommendations/lists. JSON, marked lines (list_marks), tables, headings, prose, lines; list_titles cleans each title
- items: recommendations/items. JSON by key_words, else the names of a list with prices next to them (item_texts, prices)

Words are data: answer_rules/*.yml and the YAML files in texts and recommendations.
"""
