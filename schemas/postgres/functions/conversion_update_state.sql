-- What an update by file keeps of the state of a conversion, to compare and to restore it.
create or replace function conversion_update_state(c conversion) returns jsonb stable language sql as $$
  select jsonb_build_object('status', c.status, 'status_reason', c.status_reason, 'notes', c.notes, 'sale_amount', c.sale_amount::text,
    'payout', c.payout::text, 'revenue', c.revenue::text, 'payout_given', c.payout_given, 'revenue_given', c.revenue_given,
    'hold_until', c.hold_until, 'earned', earned(c)::text, 'charged', charged(c)::text)
$$;
