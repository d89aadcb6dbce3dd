import { usePortal } from "@relicario/shared/contract";
import { formatsOf } from "@relicario/shared/i18n";
import { FieldError } from "@relicario/shared/forms";
import { Button, media, s, SmallText, space, visuallyHidden } from "@relicario/shared/ui";
import { FileText, FileUp } from "lucide-react";
import { useId } from "react";
import { useDropzone } from "react-dropzone";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface FileFieldProps {
  readonly value: File | null;
  readonly onChange: (file: File) => void;
  readonly error: string | null;
  readonly disabled: boolean;
}

/** One file, by the file chooser or by drag and drop. Cloud drives that the system mounts are in its chooser. */
export function FileField({ value, onChange, error, disabled }: FileFieldProps) {
  const { t } = useTranslation("file-upload");
  const { language } = usePortal();
  const titleId = useId();
  const take = (files: readonly File[]) => {
    const file = files[0];
    if (file !== undefined) onChange(file);
  };
  const { getRootProps, getInputProps, open, isDragActive } = useDropzone({ onDrop: take, disabled, noClick: true, noKeyboard: true, multiple: false });
  return (
    <Box role="group" aria-labelledby={titleId}>
      <Title id={titleId}>{t("choose.title")}</Title>
      <Drop {...getRootProps()} data-drag={isDragActive} data-chosen={value !== null}>
        <FileInput {...getInputProps({ "aria-label": t("choose.file_aria"), style: {} })} />
        <Icon aria-hidden>{value === null ? <FileUp /> : <FileText />}</Icon>
        <Text>
          {value === null ? <span>{t("choose.drop_body")}</span> : <Name>{value.name}</Name>}
          <SmallText>{value === null ? t("choose.cloud_hint") : formatsOf(language).size(value.size)}</SmallText>
          <Button tone={value === null ? "primary" : "quiet"} disabled={disabled} onClick={open}>
            {t(value === null ? "choose.choose_action" : "choose.another_action")}
          </Button>
        </Text>
      </Drop>
      {error !== null && <FieldError>{error}</FieldError>}
    </Box>
  );
}

const Box = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  min-width: 0;
`;

const Title = styled.span`
  font-weight: 600;
`;

const Drop = styled.div`
  position: relative;
  display: flex;
  align-items: center;
  gap: ${space(5)};
  min-height: 148px;
  padding: ${space(5)};
  border: 1.5px dashed ${s("borderStrong")};
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
  &[data-drag="true"] { border-color: ${s("accent")}; background: ${s("accentSoft")}; }
  &[data-chosen="true"] { border-style: solid; border-color: ${s("border")}; }
  ${media.mobile} { flex-direction: column; align-items: stretch; text-align: center; gap: ${space(3)}; }
`;

const FileInput = styled.input`
  ${visuallyHidden}
`;

const Icon = styled.span`
  display: grid;
  place-items: center;
  flex: none;
  width: 64px;
  height: 64px;
  border-radius: 50%;
  background: ${s("accentSoft")};
  color: ${s("accentText")};
  & > svg { width: 28px; height: 28px; }
  ${media.mobile} { align-self: center; }
`;

const Text = styled.div`
  display: flex;
  flex-direction: column;
  align-items: flex-start;
  gap: ${space(2)};
  min-width: 0;
  ${media.mobile} { align-items: center; }
`;

const Name = styled.strong`
  max-width: 100%;
  overflow-wrap: anywhere;
`;
