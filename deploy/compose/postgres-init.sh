#!/bin/sh
# The first start of Postgres: a role that owns its database and nothing else. `pg_monitor` lets DURABILITY=strict see the standbys.
set -eu
# psql reads the password from a variable, so it is on no command line and in no log.
TRACKER_PASSWORD=$(cat /run/secrets/postgres_password)
export TRACKER_PASSWORD
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres <<'SQL'
\getenv password TRACKER_PASSWORD
set log_statement = 'none';
set log_min_duration_statement = -1;
create role tracker login password :'password';
grant pg_monitor to tracker;
create database tracker owner tracker;
SQL
