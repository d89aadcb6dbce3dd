/**
 * Shell commands that open a kit with the standard `age`, version 1.3 or newer. They use one
 * program of this project, which turns a picture into an identity. `n` is the number of the secret
 * in the kit, from 1.
 */
export const identityCommand = "pnpm exec relicario-open kit.html photo.jpg --identity > opener.txt";
export const ageCommands = `n=1
grep '^{"author_keys"' kit.html > kit.json
grep -o '"ticket":"[^"]*"' kit.json | sed -n "\${n}p" | cut -d '"' -f 4 | base64 -d > ticket.age
age -d -i opener.txt ticket.age > ticket.json
grep -o '"content_identity":"[^"]*"' ticket.json | cut -d '"' -f 4 > content.txt
grep -oE '"content":("[^"]*"|null)' kit.json | sed -n "\${n}p" | cut -d '"' -f 4 | base64 -d > content.age
age -d -i content.txt content.age | head -c "$(grep -o '"size":[0-9]*' ticket.json | cut -d : -f 2)" > secret`;
