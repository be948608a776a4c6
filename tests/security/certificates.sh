#!/bin/sh
# certificates.sh FOLDER: makes keys, certificates and stores for the tests of TLS there.
set -eu
cd "$1"
exec 2>openssl.log

year=$(date +%Y)
now=$((year - 1))0101000000Z
later=$((year + 2))0101000000Z

cat >ca.cnf <<END
[req]
distinguished_name = nothing
[nothing]
[ca_default]
database = index
serial = serial
new_certs_dir = .
policy = any
default_md = sha256
unique_subject = no
email_in_dn = no
[any]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, DNS:*.brokers.test, IP:127.0.0.1, IP:::1
[server_without_names]
extendedKeyUsage = serverAuth
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
END
: >index
echo 01 >serial

key() { # NAME
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"
}

root() { # NAME
    key "$1"
    openssl req -x509 -new -config ca.cnf -extensions authority -key "$1.key" -subj "/CN=$1" \
        -days 30 -out "$1.pem"
}

signed() { # NAME ISSUER EXTENSIONS [FROM UNTIL]
    key "$1"
    openssl req -new -config ca.cnf -key "$1.key" -subj "/CN=$1.test" -out "$1.csr"
    openssl ca -batch -notext -config ca.cnf -name ca_default -cert "$2.pem" \
        -keyfile "$2.key" -extensions "$3" -startdate "${4:-$now}" -enddate "${5:-$later}" \
        -in "$1.csr" -out "$1.pem"
}

root authority
root stranger
signed between authority authority
signed server authority server
signed unnamed authority server_without_names
signed expired authority server 20200101000000Z 20210101000000Z
signed future authority server "$later" $((year + 3))0101000000Z
signed client authority client
signed foreign stranger client
signed below between server
cat between.pem >>below.pem

# how a client keeps its certificate, and whom it trusts
cat client.key client.pem >client-all.pem
cat client.pem server.key >client-mixed.pem
cat foreign.pem foreign.key >foreign-all.pem
openssl pkcs8 -topk8 -in client.key -v2 aes-256-cbc -passout pass:key-secret -out client-encrypted.key
cat client.pem client-encrypted.key >client-encrypted.pem
openssl pkcs12 -export -inkey client.key -in client.pem -certfile authority.pem \
    -passout pass:store-secret -out client.p12
openssl pkcs12 -export -nokeys -in authority.pem -passout pass:store-secret -out trust.p12
printf '\376\355\376\355\0\0\0\2\0\0\0\0' >trust.jks
mkdir folder empty
cp stranger.pem folder/first
cat authority.pem >folder/second.crt
echo "this is no certificate" >folder/README
echo "neither is this" >empty/README
sed 's/^MII/M!!/' authority.pem >damaged.pem
