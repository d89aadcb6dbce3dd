/** Hostile sealed file names, with the names under which the files are saved (`toSafeFileName`). */
export const hostileNames: Readonly<Record<string, string>> = {
  [`"><img src=x onerror="document.title='owned'">.html`]: `___img src=x onerror=_document.title='owned'__.html`,
  "../../../../etc/passwd": "_.._.._.._etc_passwd",
  "..\\..\\Startup\\run.bat": "_.._Startup_run.bat",
  "invoice\u202egpj.exe": "invoice_gpj.exe",
  "CON.txt": "_CON.txt",
  "report.pdf.lnk": "report.pdf.lnk.download",
  "line\r\nbreak\u001b[2J.txt": "line__break_[2J.txt",
  [`${"🌳".repeat(120)}.pdf`]: `${"🌳".repeat(49)}.pdf`,
};
