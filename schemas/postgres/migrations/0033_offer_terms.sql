-- SHA-256 of the text that was accepted, as hexadecimal digits. It stays when new terms ask for acceptance anew.
alter table offer_access add column accepted_terms_sha256 text;

-- A partner that accepts the terms of a public offer gets a record without having asked for access: such a record is in no list
-- of requests, and nobody decides it.
alter table offer_access add column is_asked boolean not null
  generated always as (status <> 'pending' or requested_at is not null) stored;
