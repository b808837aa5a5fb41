-- reads: 0040
-- no transaction
-- A person's own page asks whether somebody signs in with an identity provider.
drop index concurrently if exists oidc_identity_person;
create index concurrently oidc_identity_person on oidc_identity (person_id);
