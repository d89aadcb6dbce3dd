import { zodResolver } from "@hookform/resolvers/zod";
import { usePortal, type RequestPreview, type Visitor } from "@relicario/shared/contract";
import {
  FileField,
  KindChoice,
  OperationProgress,
  RecordEditor,
  SecretTextArea,
  SeedField,
  TextArea,
  useVaultOperation,
} from "@relicario/shared/forms";
import { getFormats } from "@relicario/shared/i18n";
import {
  Button,
  Card,
  ErrorNotice,
  LeaveGuard,
  markVerbatim,
  Notice,
  renderVerbatim,
  s,
  SmallText,
  space,
  SpacedRow,
  Stack,
  Verbatim,
} from "@relicario/shared/ui";
import { useMemo } from "react";
import { Controller, useForm, useWatch } from "react-hook-form";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { isProvideProblem, createProvideSchema, toProvidedSecret, type ProvideDraft } from "./provide-draft.ts";

export type AnswerResult = Awaited<ReturnType<Visitor["answer"]>>;

interface ProvideFormProps {
  readonly visitor: Visitor;
  readonly requestId: string;
  readonly preview: RequestPreview;
  readonly onSent: (result: AnswerResult) => void;
}

/**
 * Shows the requester and the request. Seals a text, seed phrase, record or file to the account
 * that created the link.
 */
export function ProvideForm({ visitor, requestId, preview, onSent }: ProvideFormProps) {
  const { t } = useTranslation(["beta-recover-share", "errors"]);
  const { language } = usePortal();
  const { title, note, requesterName, expiresAt, maxSize, unfinishedAnswer } = preview;
  const schema = useMemo(() => createProvideSchema(maxSize), [maxSize]);
  const { control, register, handleSubmit, formState } = useForm<ProvideDraft>({
    resolver: zodResolver(schema),
    defaultValues: { kind: unfinishedAnswer === null ? "text" : "file", text: "", record: [], file: null, note: "" },
  });
  const kind = useWatch({ control, name: "kind" });
  const { running: busy, progress, error, start, cancel } = useVaultOperation();
  const { errors } = formState;
  const formats = getFormats(language);
  const translateProblem = (message: string | undefined) => {
    if (message === undefined) return null;
    return isProvideProblem(message)
      ? t(`provide.${message}_error`, { size: formats.size(maxSize) })
      : t("errors:unknown");
  };

  const send = (draft: ProvideDraft, restart = false) => {
    start({
      run: (options) => visitor.answer(requestId, toProvidedSecret(draft), { ...options, restart }),
      onDone: onSent,
    });
  };
  const isOtherFile = error?.code === "file_changed";
  return (
    <form
      onSubmit={(event) =>
        void handleSubmit((draft) => {
          send(draft);
        })(event)
      }
      noValidate
    >
      <LeaveGuard
        active={formState.isDirty}
        title={t("leave.title")}
        body={t("leave.body")}
        leaveLabel={t("leave.leave_action")}
        stayLabel={t("leave.stay_action")}
      />
      <Stack $gap={5}>
        <Card as="section" aria-labelledby="asked-for">
          <Stack $gap={3}>
            <SmallText>{renderVerbatim(t("provide.asks_label", { name: markVerbatim(requesterName) }))}</SmallText>
            <RequestTitle id="asked-for">
              <Verbatim>{title}</Verbatim>
            </RequestTitle>
            {note !== "" && (
              <Note dir="auto" translate="no">
                {note}
              </Note>
            )}
            <SmallText>
              {t("provide.facts_body", { when: formats.dateTime(expiresAt), size: formats.size(maxSize) })}
            </SmallText>
            <Notice tone="warn">
              {renderVerbatim(t("provide.vouch_body", { name: markVerbatim(requesterName) }))}
            </Notice>
          </Stack>
        </Card>
        {unfinishedAnswer !== null && (
          <Notice title={t("provide.begun_title")}>
            {renderVerbatim(
              t("provide.begun_body", {
                name: markVerbatim(unfinishedAnswer.name),
                sent: formats.size(unfinishedAnswer.sentBytes),
                size: formats.size(unfinishedAnswer.size),
              }),
            )}
          </Notice>
        )}
        <Card as="div">
          <Stack $gap={5}>
            <Controller
              control={control}
              name="kind"
              render={({ field }) => (
                <KindChoice
                  legend={t("provide.kind_label")}
                  value={field.value}
                  disabled={busy}
                  onChange={field.onChange}
                />
              )}
            />
            {kind === "text" && (
              <SecretTextArea
                label={t("provide.text_label")}
                hint={t("provide.text_hint")}
                error={translateProblem(errors.text?.message)}
                disabled={busy}
                {...register("text")}
              />
            )}
            {kind === "seed" && (
              <Controller
                control={control}
                name="text"
                render={({ field, fieldState }) => (
                  <SeedField
                    value={field.value}
                    disabled={busy}
                    error={translateProblem(fieldState.error?.message)}
                    fieldRef={field.ref}
                    onBlur={field.onBlur}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            {kind === "record" && (
              <Controller
                control={control}
                name="record"
                render={({ field, fieldState }) => (
                  <RecordEditor
                    value={field.value}
                    disabled={busy}
                    error={translateProblem(fieldState.error?.message)}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            {kind === "file" && (
              <Controller
                control={control}
                name="file"
                render={({ field, fieldState }) => (
                  <FileField
                    label={t("provide.file_aria")}
                    placeholder={t("provide.drop_body", { size: formats.size(maxSize) })}
                    hint={t("provide.file_hint")}
                    value={field.value}
                    disabled={busy}
                    error={translateProblem(fieldState.error?.message)}
                    onChange={field.onChange}
                  />
                )}
              />
            )}
            <TextArea
              optional
              rows={2}
              label={t("provide.note_label")}
              error={translateProblem(errors.note?.message)}
              disabled={busy}
              {...register("note")}
            />
            {busy && <OperationProgress progress={progress} initialPhase="sealing" />}
            {isOtherFile && (
              <Notice tone="warn" role="alert" title={t("provide.another_title")}>
                {t("provide.another_body")}
              </Notice>
            )}
            <ErrorNotice error={isOtherFile ? null : error} />
            <SpacedRow>
              <Button type="submit" size="large" pending={busy}>
                {t(unfinishedAnswer === null ? "provide.send_action" : "provide.go_on_action")}
              </Button>
              {isOtherFile && (
                <Button
                  tone="quiet"
                  size="large"
                  onClick={() =>
                    void handleSubmit((draft) => {
                      send(draft, true);
                    })()
                  }
                >
                  {t("provide.anew_action")}
                </Button>
              )}
              {busy && (
                <Button tone="quiet" size="large" onClick={cancel}>
                  {t("provide.cancel_action")}
                </Button>
              )}
            </SpacedRow>
            <SmallText>{t("provide.sealed_body")}</SmallText>
          </Stack>
        </Card>
      </Stack>
    </form>
  );
}

const RequestTitle = styled.h2`
  font-size: ${s("textLarge")};
  overflow-wrap: anywhere;
`;

const Note = styled.p`
  padding-left: ${space(3)};
  border-left: 3px solid ${s("border")};
  white-space: pre-wrap;
  overflow-wrap: anywhere;
`;
