package ai.deltafin.chat;

import ai.deltafin.chat.AnswerParser.End;
import ai.deltafin.chat.AnswerParser.Options;
import java.util.ArrayList;
import java.util.List;

/** Scripted answers in the demo vocabulary: text in which the spellings of control tokens are control tokens. */
final class Answers {

    static final Tokenizer TOKENIZER = Golden.Demo.TOKENIZER;

    /** Behind the think channel, in the response. */
    static final String RESPONSE = "r<|close|>think<|sep|><|open|>response<|sep|>";

    static final String CALL =
            RESPONSE + "<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>";

    static final String END = "<|close|>message<|sep|><|end_of_msg|>";

    private Answers() {}

    static int[] ids(String script) {
        return TOKENIZER.encodeWithControls(script, Tokenizer.NEVER);
    }

    static List<AnswerEvent> events(String script, Options options, End end) {
        AnswerParser parser = new AnswerParser(TOKENIZER, options);
        List<AnswerEvent> events = new ArrayList<>();
        for (int id : ids(script)) {
            events.addAll(parser.push(id));
        }
        events.addAll(parser.finish(end));
        return events;
    }

    static Answer answer(List<AnswerEvent> events) {
        Answer.Assembler assembler = new Answer.Assembler();
        assembler.accept(events);
        return assembler.answer();
    }

    static Answer answer(String script, String... stops) {
        return answer(events(script, new Options(true, true, List.of(stops)), End.LIMIT));
    }
}
