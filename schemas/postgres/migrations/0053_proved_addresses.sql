-- reads: 0040
-- Which e-mails are proved, and by which of its two secrets a one-time link is used.
-- The address whose mailbox this person has proved to read. Another one than `email`, or null, proves nothing.
alter table person add column proved_email text;

-- Of the token that went to the mailbox and to nobody else. The token of `secret_hash` was shown to whoever made the link; of a link that was
-- only mailed it is the hash of nothing.
alter table one_time_link add column mailed_hash bytea unique;
-- Of a reset: a hash of what the person was allowed when the link was made.
alter table one_time_link add column person_rights text;
