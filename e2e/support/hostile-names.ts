/**
 * File names that somebody may have sealed, and what the file is called where it is saved
 * (`safe-name.ts`).
 */
export const hostileNames: Readonly<Record<string, string>> = {
  [`"><img src=x onerror="document.title='owned'">.html`]: `___img src=x onerror=_document.title='owned'__.html`,
  "../../../../etc/passwd": "_.._.._.._etc_passwd",
  "..\\..\\Startup\\run.bat": "_.._Startup_run.bat",
  "invoice\u202egpj.exe": "invoice_gpj.exe",
  "CON.txt": "_CON.txt",
  "line\r\nbreak\u001b[2J.txt": "line__break_[2J.txt",
  [`${"🌳".repeat(120)}.pdf`]: `${"🌳".repeat(49)}.pdf`,
};
