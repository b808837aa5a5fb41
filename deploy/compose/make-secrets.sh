#!/bin/sh
# Makes the passwords of an installation, each in a file of secrets/ beside this script, and the certificates of ha.yaml. A file
# that exists stays as it is, so it can be run again. Needs openssl.
#
#   sh make-secrets.sh [<folder>]
set -eu
umask 077
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${1:-$here/secrets}
# Other users of the host cannot enter the folder. Inside a container the users of the services read the files.
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"

# It begins with a letter, because NATS reads a value that begins with a digit as a number.
password() { printf 'p%s' "$(openssl rand -hex 24)"; }

write() {
  if [ -e "$1" ]; then
    cat >/dev/null
    return
  fi
  cat >"$1.new"
  chmod 444 "$1.new"
  mv "$1.new" "$1"
  echo "made $folder/$1"
}

for name in postgres_admin_password postgres_password clickhouse_migrate_password clickhouse_writer_password clickhouse_reader_password \
  nats_ingress_password nats_processors_password nats_api_password nats_operator_password nats_sys_password nats_route_password; do
  password | write "$name"
done

# Seals the second factors of people. With another value every code is refused, so keep it as you keep backups.
password | write console_secret

# Seals payment details. Without it partners are held, so keep it apart from the backups.
head -c 32 /dev/urandom | base64 | write secrets_key

write nats_passwords <<EOF
NATS_INGRESS_PASSWORD=$(cat nats_ingress_password)
NATS_PROCESSORS_PASSWORD=$(cat nats_processors_password)
NATS_API_PASSWORD=$(cat nats_api_password)
NATS_OPERATOR_PASSWORD=$(cat nats_operator_password)
NATS_SYS_PASSWORD=$(cat nats_sys_password)
NATS_ROUTE_PASSWORD=$(cat nats_route_password)
EOF

sys=sys:$(cat nats_sys_password)
printf 'nats://%s@nats:4222' "$sys" | write nats_sys_url
printf 'tls://%s@nats:4222,tls://%s@nats-2:4222,tls://%s@nats-3:4222' "$sys" "$sys" "$sys" | write nats_sys_urls
for login in migrate writer reader; do
  printf 'http://tracker_%s:%s@clickhouse:8123/tracker' "$login" "$(cat "clickhouse_${login}_password")" | write "clickhouse_${login}_url"
done

# The logins of deploy/servers/clickhouse/users.xml with the hashes of their passwords, which that file takes from the environment of the server.
hash_of() { tr -d '\n' <"clickhouse_$1_password" | openssl dgst -sha256 -r | cut -d' ' -f1; }
users=$here/../servers/clickhouse/users.xml
sed -e "s|<password_sha256_hex from_env=\"TRACKER_MIGRATE_SHA256\"/>|<password_sha256_hex>$(hash_of migrate)</password_sha256_hex>|" \
  -e "s|<password_sha256_hex from_env=\"TRACKER_WRITER_SHA256\"/>|<password_sha256_hex>$(hash_of writer)</password_sha256_hex>|" \
  -e "s|<password_sha256_hex from_env=\"TRACKER_READER_SHA256\"/>|<password_sha256_hex>$(hash_of reader)</password_sha256_hex>|" \
  "$users" | write clickhouse_logins.xml

if [ ! -e nats_ca.pem ]; then
  # The key of the authority is thrown away: for a new certificate, remove nats_*.pem and run this again.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=tracker NATS" \
    -keyout ca_key.pem -out nats_ca.new 2>/dev/null
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=nats" -keyout nats_key.new -out nats.csr 2>/dev/null
  printf 'subjectAltName=DNS:nats,DNS:nats-2,DNS:nats-3\nextendedKeyUsage=serverAuth,clientAuth\n' >nats.ext
  openssl x509 -req -in nats.csr -CA nats_ca.new -CAkey ca_key.pem -CAcreateserial -days 3650 -extfile nats.ext \
    -out nats_cert.new 2>/dev/null
  write nats_cert.pem <nats_cert.new
  write nats_key.pem <nats_key.new
  write nats_ca.pem <nats_ca.new
  rm -f ca_key.pem nats.csr nats.ext nats_ca.srl nats_*.new
fi
