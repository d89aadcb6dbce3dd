/**
 * Common passwords, in lower case; look them up in lower case. All have at least ten characters,
 * since shorter passwords are refused anyway.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `1234567890 0123456789 0987654321 9876543210 1q2w3e4r5t 1q2w3e4r5t6y 12345678910 123456789a 123456789q 1234567890a
  1111111111 0000000000 2222222222 5555555555 6666666666 7777777777 8888888888 9999999999 1212121212 1231231234
  123123123123 1234512345 123456123456 12341234123 1122334455 112233445566 1234554321 123456789123 1029384756 0147258369
  147258369a 1472583690 159357258456 qwertyuiop qwertyuiop1 qwertyuiop123 qwerty1234 qwerty12345 qwerty123456 qwerty123321
  1qaz2wsx3edc 1qazxsw23edc zaq12wsxcde3 qazwsxedcrfv qazwsxedc1 asdfghjkl1 asdfghjklñ asdfghjkl123 asdfasdfasdf
  asdf1234asdf qweasdzxc1 qweasdzxc123 zxcvbnm123 zxcvbnm1234 qwerasdfzxcv poiuytrewq abcdefghij abcdefghijk abcdefg123
  abc1234567 abcd123456 abcd12345678 a123456789 a1234567890 aa12345678 aa123456789 q1w2e3r4t5 q1w2e3r4t5y6 z123456789
  aaaaaaaaaa password10 password11 password12 password123 password1234 password12345 password01 password00 password99
  passwordpassword password2024 password2025 password2026 mypassword mypassword1 newpassword1 p@ssword123 p@ssw0rd123
  passw0rd123 passw0rd1234 pa55word123 pass123456 pass1234567 changeme123 changeme1234 changemenow letmein123 letmein1234
  letmeinnow welcome123 welcome1234 welcome2024 welcome2025 welcome2026 admin12345 admin123456 admin1234567 administrator
  administrador administrator1 root123456 test123456 test1234567 testtest123 testing123 user123456 guest12345 login12345
  iloveyou12 iloveyou123 iloveyou1234 iloveyou2 iloveyou11 ilovegod123 loveyou123 lovelove123 princess12 princess123
  sunshine12 sunshine123 football12 football123 baseball12 baseball123 basketball basketball1 superman12 superman123
  batman12345 spiderman1 spiderman123 pokemon123 pokemon1234 dragon12345 monkey12345 shadow12345 master12345 michael123
  jennifer12 jennifer123 charlie123 jordan2323 liverpool1 liverpool12 liverpool123 manchester manchester1 chelsea123
  arsenal123 barcelona1 barcelona10 barcelona123 barcelona12 realmadrid realmadrid1 realmadrid7 starwars123 minecraft1
  minecraft12 minecraft123 computer12 computer123 internet123 microsoft1 samsung123 google1234 facebook1 facebook12
  facebook123 linkedin123 whatever12 whatever123 trustno1234 blink182182 chocolate1 chocolate12 chocolate123 butterfly1
  butterfly12 butterfly123 strawberry strawberry1 sweetheart elizabeth1 alexander1 alexander123 christopher christian1
  valentina1 valentina12 valentina123 sebastian1 sebastian123 alejandro1 alejandro12 alejandro123 alejandra1 alejandra12
  fernando123 francisco1 francisco12 francisco123 guadalupe1 estrella123 esperanza1 esperanza123 mariposa12 mariposa123
  contraseña contraseña1 contraseña12 contraseña123 contrasena contrasena1 contrasena12 contrasena123 micontraseña
  micontrasena teamo12345 teamomucho tequieromucho tequiero12 tequiero123 tekieromucho mibebehermoso amorcito123
  corazon123 colombia12 colombia123 argentina1 argentina10 argentina12 argentina123 venezuela1 venezuela123 mexico1234
  mexico12345 america123 chivas1234 bocajuniors riverplate riverplate1 cristiano7 ronaldo123 messi12345 secret1234
  secret12345 secreto123 secreto1234 seedphrase recoveryphrase relicario1 relicario12 relicario123 relicario1234
  correcthorsebatterystaple thisisapassword nopassword1 temporary1 temp123456 default123 summer2024 summer2025 summer2026
  winter2024 winter2025 winter2026 spring2025 spring2026 autumn2025 autumn2026 verano2025 verano2026 invierno2025
  invierno2026 january2026 october2026 november2026 december2026 qwertyqwerty 1qaz1qaz1qaz 123qwe123qwe 123qweasdzxc
  qwe123qwe123 asd123asd123 123abc123abc abc123abc123 1a2b3c4d5e 1a2b3c4d5e6f 11223344556677 147852369a 789456123a
  7894561230 741852963a 7418529630 9638527410 3216549870 1597534682 12qwaszx12 1234qwer1234 1234qwerasdf qwer1234qwer
  asdfqwer1234 zxcv1234zxcv`
    .split(/\s+/)
    .filter((password) => Array.from(password).length >= 10),
);
