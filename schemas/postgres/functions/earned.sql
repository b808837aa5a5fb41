-- What a partner gets for a conversion in this state.
create or replace function earned(c conversion) returns numeric language sql immutable as $$
  select case when c.status = 'approved' then c.payout else 0 end
$$;
