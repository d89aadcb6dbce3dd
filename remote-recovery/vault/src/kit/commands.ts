/**
 * How a kit opens with the standard `age`, version 1.3 or newer, and a shell: the way that needs
 * nothing of this project but the program that turns a picture into an identity. `n` is the place
 * of the secret in the kit.
 */
export const identityCommand = "pnpm exec relicario-open kit.html photo.jpg --identity > opener.txt";
export const ageCommands = `n=1
grep '^{"image"' kit.html > kit.json
grep -o '"ticket":"[^"]*"' kit.json | sed -n "\${n}p" | cut -d '"' -f 4 | base64 -d > ticket.age
age -d -i opener.txt ticket.age > ticket.json
grep -o '"content_identity":"[^"]*"' ticket.json | cut -d '"' -f 4 > content.txt
grep -oE '"content":("[^"]*"|null)' kit.json | sed -n "\${n}p" | cut -d '"' -f 4 | base64 -d > content.age
age -d -i content.txt content.age | head -c "$(grep -o '"size":[0-9]*' ticket.json | cut -d : -f 2)" > secret`;
