import { saveFile } from "./save-file.ts";

it("saves under the safe form of a name", () => {
  URL.createObjectURL = () => "blob:content";
  URL.revokeObjectURL = () => undefined;
  const savedNames: string[] = [];
  jest.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    savedNames.push(this.download);
  });
  for (const name of ["report.pdf", "report.pdf.lnk", "../.bashrc"]) saveFile(name, "content");
  expect(savedNames).toEqual(["report.pdf", "report.pdf.lnk.download", "_.bashrc"]);
});
