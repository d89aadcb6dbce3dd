import {
  usePortal,
  type ImportComparison,
  type ImportQuestion,
  type ImportReadResult,
  type Vault,
} from "@relicario/shared/contract";
import { DeviceQuestion, FileField, TextField, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Progress,
  SectionTitle,
  SpacedRow,
  Stack,
  visuallyHidden,
} from "@relicario/shared/ui";
import { FolderOpen } from "lucide-react";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ImportQuestions, type ImportAnswers } from "./ImportQuestions.tsx";
import { ImportResult } from "./ImportResult.tsx";
import { ImportReview, type ImportContents, type ImportOutcome } from "./ImportReview.tsx";

interface ImportPanelProps {
  readonly vault: Vault;
  /** Whether the account is empty, so that this import creates its keys. */
  readonly isFirstImport: boolean;
  /** Whether the person has not yet said whose device this is. */
  readonly needsDeviceAnswer: boolean;
}

interface ComparedImport {
  readonly contents: ImportContents;
  readonly comparisons: readonly ImportComparison[];
}

/**
 * Imports files in three steps: the person chooses files, reviews the entries that were read, and
 * stores them.
 */
export function ImportPanel({ vault, isFirstImport, needsDeviceAnswer }: ImportPanelProps) {
  const { t } = useTranslation("settings-data");
  const { language } = usePortal();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [exitIdentity, setExitIdentity] = useState("");
  const [answers, setAnswers] = useState<ImportAnswers>({});
  const [question, setQuestion] = useState<ImportQuestion | null>(null);
  const [refusal, setRefusal] = useState<Extract<ImportReadResult, { status: "refused" }> | null>(null);
  const [storedImport, setStoredImport] = useState<{
    readonly result: ImportOutcome;
    readonly format: ImportContents["format"];
  } | null>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const [comparedImport, setComparedImport] = useState<ComparedImport | null>(null);
  const { running, error, start, cancel } = useVaultOperation();

  const readFiles = (chosenFiles: readonly File[], chosenAnswers: ImportAnswers = {}) => {
    if (chosenFiles.length === 0) return;
    setFiles(chosenFiles);
    setAnswers(chosenAnswers);
    setRefusal(null);
    setComparedImport(null);
    start({
      run: async ({ signal }) => {
        const contents = await vault.imports.read(chosenFiles, {
          language,
          signal,
          ...chosenAnswers,
          ...(exitIdentity === "" ? {} : { exitIdentity }),
        });
        if (contents.status !== "read") return contents;
        return {
          status: "compared" as const,
          contents,
          comparisons: await vault.imports.compare(contents.items, { signal }),
        };
      },
      onDone: (result) => {
        setQuestion(result.status === "compared" || result.status === "refused" ? null : result);
        if (result.status === "refused") setRefusal(result);
        else if (result.status === "compared") setComparedImport(result);
      },
    });
  };
  const startOver = () => {
    cancel();
    setComparedImport(null);
    setFiles([]);
    setStoredImport(null);
    setExitIdentity("");
    setAnswers({});
    setQuestion(null);
    setRefusal(null);
  };

  const sourceName = files.length === 1 ? (files[0]?.name ?? "") : (files[0]?.webkitRelativePath.split("/")[0] ?? "");
  const continueImport = () => {
    setStoredImport(null);
    readFiles(files, answers);
  };
  if (storedImport !== null) {
    return (
      <>
        <ImportResult
          result={storedImport.result}
          protection={getProtection(storedImport.format)}
          sourceName={sourceName}
          onStartOver={startOver}
          onContinue={continueImport}
        />
        {needsDeviceAnswer && <DeviceQuestion vault={vault} />}
      </>
    );
  }
  if (comparedImport !== null) {
    const { contents, comparisons } = comparedImport;
    return (
      <ImportReview
        vault={vault}
        isFirstImport={isFirstImport}
        contents={contents}
        comparisons={comparisons}
        onCancel={startOver}
        onStored={(result) => {
          setComparedImport(null);
          setStoredImport({ result, format: contents.format });
        }}
      />
    );
  }
  if (question !== null) {
    return (
      <Stack $gap={3}>
        <ImportQuestions
          question={question}
          pending={running}
          onAnswer={(answer) => {
            readFiles(files, { ...answers, ...answer });
          }}
          onCancel={startOver}
        />
        <ErrorNotice error={error} />
      </Stack>
    );
  }
  const needsIdentity = refusal?.reason === "identity_needed" || refusal?.reason === "identity_wrong";
  return (
    <Card>
      <Stack $gap={4}>
        <SectionTitle>{t("import.title")}</SectionTitle>
        <Muted>{t("import.body")}</Muted>
        <FileField
          label={t("import.file_label")}
          placeholder={t("import.file_invitation")}
          hint={t("import.formats_hint")}
          value={files.length === 1 ? (files[0] ?? null) : null}
          onChange={(file) => {
            readFiles([file]);
          }}
          error={
            refusal === null || refusal.reason === "identity_needed"
              ? null
              : refusal.reason === "unreadable_format"
                ? t(`unreadable.${refusal.format}`)
                : t(`refused.${refusal.reason}`)
          }
          disabled={running}
        />
        {needsIdentity && (
          <Stack $gap={3}>
            <TextField
              label={t("import.exit_label")}
              hint={t("import.exit_hint")}
              autoComplete="off"
              spellCheck={false}
              value={exitIdentity}
              onChange={(event) => {
                setExitIdentity(event.target.value);
              }}
            />
            <SpacedRow>
              <Button
                pending={running}
                onClick={() => {
                  readFiles(files);
                }}
              >
                {t("import.exit_action")}
              </Button>
            </SpacedRow>
          </Stack>
        )}
        <SpacedRow>
          <Button
            tone="quiet"
            icon={<FolderOpen aria-hidden />}
            disabled={running}
            onClick={() => folderInput.current?.click()}
          >
            {t("import.folder_action")}
          </Button>
          <FolderInput
            ref={folderInput}
            type="file"
            multiple
            tabIndex={-1}
            aria-label={t("import.folder_action")}
            {...{ webkitdirectory: "" }}
            onChange={(event) => {
              readFiles([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
        </SpacedRow>
        {running && <Progress label={t("import.reading_status")} done={0} total={0} />}
        <ErrorNotice error={error} />
      </Stack>
    </Card>
  );
}

/** Hidden, because a button opens it. */
const FolderInput = styled.input`
  ${visuallyHidden}
`;

function getProtection(format: ImportContents["format"]): "key" | "password" | null {
  if (format === "relicario_export") return "key";
  return format === "keepass_kdbx" ? "password" : null;
}
