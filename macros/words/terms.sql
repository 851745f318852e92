{#- The words of a group's label or descriptor as they are in texts: african_american is two. -#}
{% macro words_of_label(text) -%}
    {{ biasledger.words_of("replace(" ~ text ~ ", '_', ' ')") }}
{%- endmacro %}

{#-
    The forms in which a group's word comes back, as a list: the word, its singular or plural, without accents, without a hyphen.
    Words of scripts without spaces have one form, and marks that belong to it.
-#}
{% macro forms_of_word(word) -%}
    if({{ biasledger.is_unspaced(word) }}, [{{ word }}], list_distinct(list_filter(
        flatten(list_transform(
            [{{ word }}, strip_accents({{ word }}), replace({{ word }}, '-', '')],
            lambda form: [
                form,
                if(length(form) > 2, form || 's', null),
                if(regexp_matches(form, '(s|x|z|ch|sh)$'), form || 'es', null),
                if(regexp_matches(form, '[^aeiou]y$'), regexp_replace(form, 'y$', 'ies'), null),
                if(regexp_matches(form, '[^aeiou]ies$'), regexp_replace(form, 'ies$', 'y'), null),
                if(regexp_matches(form, 'man$'), regexp_replace(form, 'man$', 'men'), null),
                if(form = 'person', 'people', null),
                if(regexp_matches(form, 'men$'), regexp_replace(form, 'men$', 'man'), null),
                if(regexp_matches(form, '[^s]s$') and length(form) > 3, regexp_replace(form, 's$', ''), null)
            ]
        )),
        lambda form: form is not null
    )))
{%- endmacro %}

{#- A phrase as the one token that scheme `words` makes of it. -#}
{% macro token_of_term(term) -%}
    replace({{ term }}, ' ', '_')
{%- endmacro %}

{#- Indefinite articles, which agree with the next word and so would reveal it after its removal. -#}
{% macro articles() -%}
    {{ return(["a", "an", "un", "une", "una"]) }}
{%- endmacro %}

{% macro is_article(word) -%}
    {{ word }} in ('{{ biasledger.articles() | join("', '") }}')
{%- endmacro %}
