-- Whether a text has an address whose keyed hash is among `erased`, also percent-encoded.
create or replace function has_hashed_address(content text, erased text[]) returns boolean language sql stable strict as $$
  select cardinality(erased) > 0 and exists (
    select from regexp_matches(lower(replace(replace(content, '%3A', ':'), '%3a', ':')),
      '[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}', 'g') m
    where keyed_hash(erasure_key(), m[1]) = any(erased))
$$;
