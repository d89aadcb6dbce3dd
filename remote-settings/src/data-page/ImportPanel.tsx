import { usePortal, type ImportComparison, type ImportReadResult, type Vault } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { DeviceQuestion, FileField, TextField } from "@relicario/shared/forms";
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
import { useMutation } from "@tanstack/react-query";
import { FolderOpen } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { ImportResult } from "./ImportResult.tsx";
import { ImportReview, type ImportContents, type ImportOutcome } from "./ImportReview.tsx";

interface ImportPanelProps {
  readonly vault: Vault;
  /** Nothing was ever kept: the account begins with what is imported. */
  readonly isFirstImport: boolean;
  /** Nobody was asked yet whose device this is. */
  readonly needsDeviceAnswer: boolean;
}

interface ComparedImport {
  readonly contents: ImportContents;
  readonly comparisons: readonly ImportComparison[];
}

/** Files are chosen and read, what they hold is looked at, and only then it is stored. */
export function ImportPanel({ vault, isFirstImport, needsDeviceAnswer }: ImportPanelProps) {
  const { t } = useTranslation("settings-data");
  const { language } = usePortal();
  const [files, setFiles] = useState<readonly File[]>([]);
  const [exitIdentity, setExitIdentity] = useState("");
  const [refusalReason, setRefusalReason] = useState<Extract<ImportReadResult, { status: "refused" }>["reason"] | null>(
    null,
  );
  const [storedImport, setStoredImport] = useState<{
    readonly result: ImportOutcome;
    readonly isPortalExport: boolean;
  } | null>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const abortController = useRef<AbortController | null>(null);
  useEffect(() => () => abortController.current?.abort(), []);

  const readMutation = useMutation({
    mutationFn: async (chosenFiles: readonly File[]): Promise<ComparedImport | null> => {
      abortController.current?.abort();
      const controller = new AbortController();
      abortController.current = controller;
      const { signal } = controller;
      const contents = await vault.imports.read(chosenFiles, {
        language,
        signal,
        ...(exitIdentity === "" ? {} : { exitIdentity }),
      });
      if (contents.status === "refused") {
        setRefusalReason(contents.reason);
        return null;
      }
      return { contents, comparisons: await vault.imports.compare(contents.items, { signal }) };
    },
    gcTime: 0, // it holds what is in the file
  });
  const readFiles = (chosenFiles: readonly File[]) => {
    if (chosenFiles.length === 0) return;
    setFiles(chosenFiles);
    setRefusalReason(null);
    readMutation.mutate(chosenFiles);
  };
  const startOver = () => {
    readMutation.reset();
    setFiles([]);
    setStoredImport(null);
    setExitIdentity("");
    setRefusalReason(null);
  };

  const sourceName = files.length === 1 ? (files[0]?.name ?? "") : (files[0]?.webkitRelativePath.split("/")[0] ?? "");
  const continueImport = () => {
    setStoredImport(null);
    readFiles(files);
  };
  if (storedImport !== null) {
    return (
      <>
        <ImportResult
          result={storedImport.result}
          isPortalExport={storedImport.isPortalExport}
          sourceName={sourceName}
          onStartOver={startOver}
          onContinue={continueImport}
        />
        {needsDeviceAnswer && <DeviceQuestion vault={vault} />}
      </>
    );
  }
  if (readMutation.data != null) {
    const { contents, comparisons } = readMutation.data;
    return (
      <ImportReview
        vault={vault}
        isFirstImport={isFirstImport}
        contents={contents}
        comparisons={comparisons}
        onCancel={startOver}
        onStored={(result) => {
          readMutation.reset();
          setStoredImport({ result, isPortalExport: contents.format === "relicario_export" });
        }}
      />
    );
  }
  const needsIdentity = refusalReason === "identity_needed" || refusalReason === "identity_wrong";
  const isCancelled = readMutation.error instanceof PortalError && readMutation.error.code === "cancelled";
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
          error={refusalReason === null || refusalReason === "identity_needed" ? null : t(`refused.${refusalReason}`)}
          disabled={readMutation.isPending}
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
                pending={readMutation.isPending}
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
            disabled={readMutation.isPending}
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
        {readMutation.isPending && <Progress label={t("import.reading_status")} done={0} total={0} />}
        {!isCancelled && <ErrorNotice error={readMutation.error} />}
      </Stack>
    </Card>
  );
}

/** Its button opens it. */
const FolderInput = styled.input`
  ${visuallyHidden}
`;
