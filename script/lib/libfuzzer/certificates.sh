#!/usr/bin/env bash
# certificates.sh DIR: small files of each kind for the readers of certificates, with keys that are thrown away.
set -euo pipefail
cd "$1"
subject="/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=ABC123DEFG"
apple=(-addext "1.2.840.113635.100.6.3.1=DER:0500" -addext "1.2.840.113635.100.6.3.6=ASN1:UTF8:com.example.app")
elliptic=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1)
{
  openssl ecparam -genkey -name prime256v1 -noout -out ec.pem
  openssl ec -in ec.pem -outform der -out ec.key
  openssl pkcs8 -topk8 -nocrypt -in ec.pem -out AuthKey.p8
  openssl pkcs8 -topk8 -nocrypt -in ec.pem -outform der -out pkcs8.key
  openssl pkcs8 -topk8 -in ec.pem -passout pass:secret -v2 aes-256-cbc -iter 16 -out encrypted.p8
  openssl pkcs8 -topk8 -in ec.pem -passout pass:secret -v2 aes-256-cbc -iter 16 -outform der -out encrypted.key
  openssl req -new -x509 -newkey rsa:1024 -nodes -keyout rsa.pem -out rsa.cer -days 3 -subj "$subject" "${apple[@]}"
  openssl x509 -in rsa.cer -outform der -out rsa.der
  openssl req -new -x509 "${elliptic[@]}" -nodes -keyout push.pem -out push.cer -days 3 -subj "$subject" "${apple[@]}"
  openssl x509 -in push.cer -outform der -out push.der
  openssl req -new -x509 "${elliptic[@]}" -nodes -keyout small.pem -out small.cer -days 3 -subj /CN=a
  openssl x509 -in small.cer -outform der -out small.der
  openssl req -new -key ec.pem -subj "/CN=Push" -out request.csr
  openssl req -in request.csr -outform der -out request.der
  openssl pkey -in ec.pem -pubout -outform der -out public.der
  cat push.cer push.pem >both.pem
  openssl crl2pkcs7 -nocrl -certfile small.cer -outform der -out chain.p7b
  # Without encryption and checksum, changed content is read too.
  openssl pkcs12 -export -in small.cer -inkey small.pem -passout pass:secret -nomac -keypbe NONE -certpbe NONE -out open.p12
  openssl pkcs12 -export -in push.cer -inkey push.pem -passout pass:secret -nomac -keypbe NONE -certpbe NONE -out push.p12
  openssl pkcs12 -export -in small.cer -inkey small.pem -passout pass:secret -nomac -certpbe NONE -iter 16 -out key.p12
  openssl pkcs12 -export -in small.cer -inkey small.pem -passout pass:secret -iter 16 -out new.p12
  openssl pkcs12 -export -in small.cer -inkey small.pem -passout pass: -iter 16 -out empty.p12
  openssl pkcs12 -export -in small.cer -inkey small.pem -passout pass:secret -iter 16 -legacy -out old.p12
  printf '<?xml version="1.0"?><plist version="1.0"><dict><key>UUID</key><string>U</string><key>Name</key><string>App</string><key>ExpirationDate</key><date>2027-01-01T00:00:00Z</date><key>Entitlements</key><dict><key>aps-environment</key><string>development</string><key>application-identifier</key><string>ABC123DEFG.com.example.app</string></dict><key>DeveloperCertificates</key><array/></dict></plist>' >profile.plist
  openssl cms -sign -in profile.plist -signer small.cer -inkey small.pem -nodetach -binary -outform der -out app.mobileprovision
  openssl genrsa -out account.rsa 2048
  for key in account.rsa ec.pem; do
    printf '{"type":"service_account","project_id":"p","private_key_id":"1","private_key":"%s","client_email":"a@p.iam.gserviceaccount.com","token_uri":"https://oauth2.googleapis.com/token"}' "$(sed 's/$/\\n/' "$key" | tr -d '\n')" >"${key%.*}.json"
  done
} 2>/dev/null
