-- A producer number belongs to the journal folder that has its nonce, and each start of a process notes its run here and says
-- every two seconds that it lives. So a process notices that its number was given again (a restored Postgres), or that another
-- one runs on a copy of its folder (a cloned machine, a copied volume). Null in rows of earlier releases: the first one that
-- asks has the number.
alter table ingress_producer
  add column nonce text,
  add column run text,
  add column run_epoch bigint,
  -- Null when the run has ended in good order.
  add column run_at timestamptz(3),
  -- When a process left this number because another one has it.
  add column contested_at timestamptz(3);
