#!/usr/bin/env bash
# certificates.sh DIR: one file of each kind for the reader of certificates, with keys that are thrown away.
set -euo pipefail
cd "$1"
{
  openssl ecparam -genkey -name prime256v1 -noout -out ec.pem
  openssl pkcs8 -topk8 -nocrypt -in ec.pem -out AuthKey.p8
  openssl pkcs8 -topk8 -in ec.pem -passout pass:secret -v2 aes-256-cbc -iter 16 -out encrypted.p8
  openssl req -new -x509 -newkey rsa:1024 -nodes -keyout rsa.pem -out rsa.cer -days 3 \
    -subj "/UID=com.example.app/CN=Apple Push Services: com.example.app/OU=ABC123DEFG" \
    -addext "1.2.840.113635.100.6.3.1=DER:0500" -addext "1.2.840.113635.100.6.3.6=ASN1:UTF8:com.example.app"
  openssl x509 -in rsa.cer -outform der -out der.cer
  openssl req -new -key ec.pem -subj "/CN=Push" -out request.csr
  cat rsa.cer rsa.pem >both.pem
  openssl crl2pkcs7 -nocrl -certfile rsa.cer -outform der -out chain.p7b
  openssl pkcs12 -export -in rsa.cer -inkey rsa.pem -passout pass:secret -iter 16 -out new.p12
  openssl pkcs12 -export -in rsa.cer -inkey rsa.pem -passout pass: -iter 16 -out empty.p12
  openssl pkcs12 -export -in rsa.cer -inkey rsa.pem -passout pass:secret -iter 16 -legacy -out old.p12
  printf '<?xml version="1.0"?><plist version="1.0"><dict><key>AppIDName</key><string>App</string><key>ExpirationDate</key><date>2027-01-01T00:00:00Z</date><key>Entitlements</key><dict><key>aps-environment</key><string>development</string><key>application-identifier</key><string>ABC123DEFG.com.example.app</string></dict><key>DeveloperCertificates</key><array/></dict></plist>' >profile.plist
  openssl cms -sign -in profile.plist -signer rsa.cer -inkey rsa.pem -nodetach -binary -outform der -out app.mobileprovision
  printf '{"type":"service_account","project_id":"p","private_key_id":"1","private_key":"%s","client_email":"a@p.iam.gserviceaccount.com","token_uri":"https://oauth2.googleapis.com/token"}' "$(sed 's/$/\\n/' rsa.pem | tr -d '\n')" >account.json
} 2>/dev/null
