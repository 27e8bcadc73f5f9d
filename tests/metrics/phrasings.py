"""Ways in which models print an answer, as templates over one question's options.

``{L}`` is the letter of the chosen option, ``{l}`` the same in lower case, ``{T}`` its text as
the question has it, ``{t}`` its text in lower case without the full stop; ``{W}``, ``{w}``,
``{U}`` and ``{u}`` are the same of another option. ``{list}`` is the whole list of options, one a
line, ``{inline}`` the same in one line. One template a line; ``⏎`` is a line break and ``␣`` a
space at its end.
"""

from __future__ import annotations


def templates(table: str) -> list[str]:
    return [line.replace("⏎", "\n").replace("␣", " ") for line in table.strip("\n").split("\n")]


LETTER = templates(r"""
{L}
{l}
{L}.
{l}.
{L})
({L})
({l})
[{L}]
{{{L}}}
<{L}>
"{L}"
'{L}'
`{L}`
*{L}*
**{L}**
**{L}.**
**({L})**
__{L}__
# {L}
> {L}
- {L}
: {L}
⏎{L}⏎
{L}!
{L},
{L};
{L}:
{L}⏎⏎
 {L}
{L}</s>
{L}<|im_end|>
{L}<|endoftext|>
{L}<|eot_id|>
{L} END
Option {L}
option {L}.
Option ({L})
Option: {L}
OPTION {L}
**Option {L}**
Choice {L}
Choice: {L}
Letter {L}
Letter: {L}
Answer {L}
Answer: {L}
Answer: {L}.
Answer:{L}
Answer: ({L})
Answer: **{L}**
**Answer: {L}**
**Answer:** {L}
**Answer**: {L}
*Answer*: {L}
Answer:⏎{L}
Answer:⏎⏎**{L}**
Answer - {L}
Answer = {L}
Answer -> {L}
ANSWER: {L}
answer: {l}
answer: {L}
Ans: {L}
Ans. {L}
A: {L}
### Answer: {L}
### Answer⏎{L}
## Final Answer⏎⏎**{L}**
Final answer: {L}
Final Answer: {L}.
**Final Answer:** {L}
**Final Answer**: **{L}**
Final answer: **({L})**
The final answer is {L}.
The final answer is: {L}
The final answer is $\boxed{{{L}}}$.
\boxed{{{L}}}
$\boxed{{{L}}}$
$$\boxed{{\text{{{L}}}}}$$
\(\boxed{{{L}}}\)
\[⏎\boxed{{\textbf{{{L}}}}}⏎\]
The final answer is \boxed{{{L}}}
Answer is {L}
Answer is {L}.
answer is {l}
The answer is {L}
The answer is {L}.
The answer is: {L}
The answer is ({L}).
The answer is '{L}'.
The answer is "{L}."
The answer is **{L}**.
The answer is [{L}]
The answer is option {L}.
The answer is Option ({L})
The answer is letter {L}.
The answer is the letter {L}.
The answer is choice {L}.
The answer should be {L}.
The answer would be {L}.
The answer must be {L}.
The answer is clearly {L}.
The answer is most likely {L}.
The answer is probably {L}
The answer to the question is {L}.
The answer to this question is ({L}).
The answer, based on the video, is {L}.
The answer I would give is {L}.
The correct answer is {L}
The correct answer is {L}.
The correct answer is: {L}.
The correct answer is ({L}).
The correct answer is:⏎⏎{L}
The correct answer is:⏎⏎**{L}**
The correct answer is option {L}.
The correct answer is therefore {L}.
The correct answer would be {L}.
The correct answer to the question is ({L}).
Correct answer: {L}
correct answer is {l}.
The correct option is {L}.
The correct option is ({L}).
Correct option: {L}
The correct choice is {L}.
The right answer is {L}.
The best answer is {L}.
The best answer is ({L}).
The best option is {L}.
The best choice is option {L}.
The most likely answer is {L}.
The most appropriate answer is {L}.
The most accurate answer is: {L}
The most plausible option is ({L}).
My answer is {L}.
My answer: {L}
My final answer is {L}.
My choice is {L}.
My best guess is {L}.
My guess: {L}
Our answer is {L}.
So the answer is {L}.
So, the answer is {L}.
Thus, the answer is ({L}).
Therefore, the answer is {L}.
Therefore, the correct answer is {L}.
Therefore, the correct answer is option {L}.
Hence, the correct option is ({L}).
Hence the answer is {L}
Therefore, {L}.
Therefore, {L} is the correct answer.
So, {L}.
So it is {L}.
It is {L}.
It's {L}.
It's {L}!
It must be {L}.
It should be {L}.
That would be {L}.
This is {L}.
I choose {L}.
I choose option {L}.
I would choose {L}.
I would choose option {L}.
I'd choose ({L}).
I select {L}
I will select option {L}.
I pick {L}.
I'll go with {L}.
I would go with {L}.
I'd go with option {L}.
I'm going with {L}.
Let's go with {L}.
I'd say {L}.
I would say {L}.
I would say it's {L}.
I guess {L}.
I would guess {L}.
I think {L}.
I think it's {L}.
I think the answer is {L}.
I believe {L} is correct.
I believe the answer is {L}.
I believe the correct answer is ({L}).
I'm confident that the answer is {L}.
I am fairly certain the answer is {L}.
{L} is correct.
{L} is the correct answer.
{L} is the answer.
{L} is the right answer.
{L} is the best answer.
{L} is the most likely answer.
{L} is right.
({L}) is correct.
({L}) is the correct option.
"{L}" is the correct answer.
**{L}** is the correct answer.
Option {L} is correct.
Option {L} is the correct answer.
Option {L} is the best choice.
Option {L} is the most plausible.
Option ({L}) is the most likely.
Option {L} seems to be the correct answer.
Option {L} best describes the video.
Option {L} most accurately describes what happens.
Choice {L} is correct.
Answer {L} is correct.
Answer choice {L}
Answer choice: {L}
Answer option: {L}
Answer letter: {L}
Your Answer Letter: {L} END
Your Answer Letter: {L}
Your Answer Letter: {L} END.
Your Answer Letter: ({L}) END
Your Answer Letter: <{L}> END
My Answer Letter: {L} END
Answer Letter: **{L}** END
Selected option: {L}
Selected answer: {L}
Selection: {L}
Response: {L}
Prediction: {L}
Conclusion: {L}
Result: {L}
Solution: {L}
Output: {L}
Definitely {L}.
Probably {L}.
Most likely {L}.
Clearly {L}.
Sure! The answer is {L}.
Sure, {L}.
Okay, the answer is {L}.
Certainly! The correct answer is {L}.
Based on the video, the answer is {L}.
Based on the frames provided, the correct answer is ({L}).
Based on the video, the correct option is {L}
According to the video, the answer is option {L}.
From the frames, I would choose {L}.
After careful analysis, the answer is {L}.
Looking at the sequence of frames, the best answer is {L}.
The video clearly shows that the answer is {L}.
This corresponds to option {L}.
This matches option {L}.
The description that fits is {L}.
The option that best describes the video is {L}.
The statement that correctly explains what happens is {L}.
The one that fits best is option {L}.
The answer that matches the video is ({L}).
Among the options, {L} is the most likely.
Of the given options, ({L}) is the best match.
<answer>{L}</answer>
<answer> {L} </answer>
<answer>({L})</answer>
<answer>{L}.</answer>
<answer>Option {L}</answer>
<answer>{L}
<Answer>{L}</Answer>
<final_answer>{L}</final_answer>
<CONCLUSION> {L} </CONCLUSION>
<CONCLUSION> The answer is {L}. </CONCLUSION>
<|begin_of_box|>{L}<|end_of_box|>
{{"answer": "{L}"}}
{{'answer': '{L}'}}
{{"Answer": "({L})"}}
{{"answer":"{L}","confidence":0.9}}
{{"choice": "{L}"}}
{{"final_answer": "{L}"}}
{{"option": "{L}"}}
{{"letter": "{L}"}}
```json⏎{{"answer": "{L}"}}⏎```
```⏎{L}⏎```
```json⏎{{⏎  "reasoning": "The motion is visible.",⏎  "answer": "{L}"⏎}}⏎```
{{"explanation": "It can be seen in the frames.", "answer": "{L}"}}
answer = "{L}"
print("{L}")
ASSISTANT: {L}
Assistant: {L}
assistant⏎{L}
USER: What happens? ASSISTANT: {L}
Q: What happens?⏎A: {L}
Question: What happens?⏎Answer: {L}
Question: What happens? Answer: {L}
<b>{L}</b>
<strong>Answer: {L}</strong>
<p>The answer is <b>{L}</b>.</p>
The answer is <b>{L}</b>
{L} because it is what the video shows.
{L}, because it is what the video shows.
({L}) because it is what the video shows.
{L} as seen in the last frames.
{L} since the frames show it.
{L} - this is what the frames show.
{L}. This is what the frames show.
{L}. The frames show it clearly.
{L}⏎The frames show it clearly.
{L}⏎⏎Explanation: The frames show it clearly.
{L}. Explanation: The frames show it clearly.
{L} is what the video shows.
{L} Explanation: the frames show it.
Answer: {L} because a ball rolls.
Answer: {L}. A person can be seen in the frames.
Answer: {L}⏎Explanation: A person can be seen in the frames.
Answer: {L}⏎⏎Reasoning: In the first frames, a person stands still.
Answer: {L}, as a person can be seen.
The answer is {L} because the man drops a ball.
The answer is {L} as the man drops a ball.
The answer is {L}, since a man drops a ball.
The answer is {L}. A man drops a ball.
The correct answer is {L}. I hope this helps!
The correct answer is {L}. Let me know if you have any other questions.
A person moves, so the answer is {L}
A person moves, so the answer is {L}.
A person is seen in the video. The answer is {L}.
A close look at the frames suggests that the answer is {L}.
I can see a person in the video. I think the answer is {L}.
I looked at each frame. {L}.
In the video, a person can be seen.⏎⏎{L}
In the video, a person can be seen.⏎⏎{L}.
In the video, a person can be seen.⏎⏎**{L}**
In the video, a person can be seen.⏎⏎({L})
In the video, a person can be seen.⏎⏎Answer: {L}
In the video, a person can be seen. Answer: {L}
In the video, a person can be seen. So {L}.
In the video, a person can be seen, so {L}.
In the video, a person can be seen. Therefore, {L}.
In the video, a person can be seen. {L}
In the video, a person can be seen ({L}).
In the video, a person can be seen, which corresponds to option {L}.
In the video, a person can be seen, which matches ({L}).
In the video, a person can be seen => {L}
In the video, a person can be seen. → {L}
Let's think step by step. In frame 1 a person is seen. In frame 8 none. So the answer is {L}.
Step 1: Look at the frames.⏎Step 2: Compare them.⏎Step 3: Decide.⏎⏎Final answer: {L}
1. A person enters.⏎2. A dog barks.⏎⏎The answer is {L}.
- A person enters.⏎- A dog barks.⏎⏎Answer: **{L}**
**Reasoning:** A dog barks.⏎⏎**Answer:** {L}
Reasoning: A dog barks. Answer: {L}
Explanation: A dog barks.⏎Answer: {L}
Rationale: A dog barks, and a man turns. The answer is ({L}).
I'm not entirely sure, but I think the answer is {L}.
I'm not sure, but my best guess is {L}.
I cannot see the whole video, but the answer is probably {L}.
It is difficult to determine, but the most likely answer is {L}.
While it is hard to tell, I would choose {L}.
Although the frames do not show everything, the answer is {L}.
If I had to guess, I would say {L}.
It is not entirely clear. However, the best answer is {L}.
There is no doubt that the answer is {L}.
Without a doubt, the answer is {L}.
<think>The man moves. Maybe it is {W}? No, wait.</think>⏎⏎{L}
<think>The answer could be {W}.</think>The answer is {L}.
<think>⏎The answer is {W}. Wait, no.⏎</think>⏎⏎<answer>{L}</answer>
<think>Hmm, option {W} or {L}.</think>⏎⏎**Answer: {L}**
The answer is {W}? No.</think>⏎{L}
<think></think>{L}
<think>⏎⏎</think>⏎⏎{L}
◁think▷Maybe {W}.◁/think▷**{L}**
<thinking>Perhaps {W}.</thinking>⏎{L}
<reasoning>Perhaps {W}.</reasoning><answer>{L}</answer>
<SUMMARY> I look. </SUMMARY><REASONING> Maybe {W}. </REASONING><CONCLUSION> {L} </CONCLUSION>
<|begin_of_thought|>Maybe {W}.<|end_of_thought|><|begin_of_solution|>{L}<|end_of_solution|>
It's not {W}, it's {L}.
It is not {W} but {L}.
Not {W}. {L}.
The answer is not {W} but {L}.
The answer is not {W}. The answer is {L}.
The answer is {L}, not {W}.
The answer is {L} rather than {W}.
The answer is {L}, and not {W}.
At first I thought {W}, but the answer is {L}.
At first the answer seems to be {W}, but the correct answer is {L}.
Initially I chose {W}. On reflection, I choose {L}.
Wait, actually the answer is {L}, not {W}.
Option {W} is incorrect. Option {L} is correct.
Option {L} is correct. Option {W} is incorrect.
{W} is wrong, so the answer is {L}.
{W} is not correct. {L} is correct.
({W}) is wrong because it is not seen. ({L}) is right.
{L} is correct because {W} is not seen in the video.
({L}) because ({W}) is not seen.
({L}). Option ({W}) can be ruled out.
Eliminating {W}, the answer is {L}.
We can rule out {W}. The answer must be {L}.
Option {W} does not match the video, so I choose {L}.
{L} is more likely than {W}.
Between {W} and {L}, I would choose {L}.
It is either {W} or {L}. The answer is {L}.
It could be {W} or {L}, but I'd go with {L}.
The answer is {L}.⏎⏎Option {W} is wrong because it is not shown.
Answer: {L}⏎⏎Option {W} is not supported by the frames.
Answer: {L}⏎If the answer were {W}, the motion would be different.
{L}⏎⏎Option {W} is incorrect because it does not match the frames.
{list}⏎{L}
{list}⏎⏎{L}.
{list}⏎Answer: {L}
{list}⏎⏎The answer is {L}.
{list}⏎⏎**{L}**
Options:⏎{list}⏎⏎Answer: {L}
Question: What happens?⏎Options:⏎{list}⏎Answer: {L}
Select the description:⏎{list}⏎⏎The correct answer is ({L}).
{inline}⏎{L}
{inline} Answer: {L}
The options are {inline} The answer is {L}.
Choose the best answer: {inline} I choose {L}.
""")

# The letter together with the option's text.
LETTER_AND_TEXT = templates(r"""
{L}. {T}
{L}) {T}
({L}) {T}
[{L}] {T}
{L}: {T}
{L} {T}
{L} - {T}
{L}, {T}
{L} ({T})
{L}⏎{T}
{L}.⏎{T}
{L}.{T}
{L}. {t}
{L}: {t}
({L}) {t}
'{L}': {T}
'{L}': '{T}'
"{L}": "{T}"
{{'{L}': '{T}'}}
{{"{L}": "{T}"}}
{L}: "{T}"
"{L}. {T}"
"({L}) {T}"
**{L}. {T}**
**{L}) {T}**
**({L}) {T}**
**{L}**. {T}
**{L}.** {T}
**{L}:** {T}
**{L}: {T}**
**{L}** {T}
**{L}** - {T}
__{L}. {T}__
*{L}. {T}*
`{L}. {T}`
- {L}. {T}
- **{L}. {T}**
* ({L}) {T}
> {L}. {T}
### {L}. {T}
Option {L}: {T}
Option {L}. {T}
Option {L} - {T}
Option {L} ({T})
Option ({L}): {T}
**Option {L}: {T}**
**Option {L}:** {T}
Option {L}, {t}
Option {L}, "{T}"
Choice {L}: {T}
Answer: {L}. {T}
Answer: {L}) {T}
Answer: ({L}) {T}
Answer: {L}: {T}
Answer: {L} - {T}
Answer: {L} ({T})
Answer: {L}, {t}
Answer: '{L}': '{T}'
Answer: **{L}. {T}**
**Answer: {L}. {T}**
**Answer:** {L}. {T}
**Answer:** ({L}) {T}
Answer:⏎{L}. {T}
Answer:⏎⏎**{L}. {T}**
Answer: Option {L}: {T}
The answer is {L}. {T}
The answer is {L}: {T}
The answer is {L}, {t}.
The answer is {L} ({t}).
The answer is {L}) {T}
The answer is ({L}) {T}
The answer is "{L}. {T}"
The answer is **{L}. {T}**
The answer is '{L}': '{T}'.
The answer is option {L}: {T}
The answer is option {L}, {t}.
The answer is option {L} ({t}).
The correct answer is {L}. {T}
The correct answer is ({L}) {T}
The correct answer is:⏎⏎{L}. {T}
The correct answer is:⏎⏎**{L}. {T}**
The correct answer is **{L}: {T}**
The correct answer is option {L}. {T}
The correct option is {L}: {T}
The correct option is **{L}: {T}**.
The correct option is "{L}. {T}"
Correct answer: {L}. {T}
Final answer: {L}. {T}
**Final Answer:** {L}. {T}
My answer is {L}. {T}
The best answer is ({L}) {t}.
The final answer is \boxed{{{L}. {T}}}
\boxed{{{L}. {T}}}
\boxed{{\text{{{L}. {T}}}}}
$\boxed{{\text{{({L}) {T}}}}}$
<answer>{L}. {T}</answer>
<answer>({L}) {T}</answer>
<CONCLUSION> {L}. {T} </CONCLUSION>
{{"answer": "{L}. {T}"}}
{{"answer": "{L}: {T}"}}
{{"answer": "{L}", "text": "{T}"}}
{{"answer": "({L}) {T}", "reason": "It is seen."}}
```json⏎{{"answer": "{L}. {T}"}}⏎```
I choose {L}. {T}
I would choose option {L}: {T}
I'd go with ({L}) {t}.
I think the answer is {L}. {T}
I believe it is {L}. {T}
So the answer is {L}. {T}
Therefore, the answer is {L}. {T}
Therefore, the correct answer is {L}: {T}
Therefore, the correct answer is ({L}) {T}
Based on the video, the answer is {L}. {T}
Based on the frames, the correct answer is **{L}. {T}**
According to the video, the answer is ({L}) {T}
{L}. {T} is correct.
{L}. {T} is the correct answer.
({L}) {T} is the correct answer.
"{L}. {T}" is the correct answer.
Option {L}, "{T}", is correct.
Option {L} ({t}) is the correct answer.
Option {L}: "{T}" is the best description.
The description that indicates what happened is {L}. {T}
The description that correctly explains what happens in this video is: {L}. {T}
Your Answer Letter: {L}. {T} END
A person is seen. The answer is {L}. {T}
A person is seen in the video.⏎⏎{L}. {T}
A person is seen in the video.⏎⏎**{L}. {T}**
A person is seen in the video.⏎⏎({L}) {T}
A person is seen in the video.⏎⏎Answer: {L}. {T}
A person is seen in the video.⏎⏎The correct answer is:⏎⏎**{L}. {T}**
A person is seen in the video, which corresponds to option {L}: {T}
{L}. {T}⏎⏎Explanation: the frames show it clearly.
{L}. {T}⏎The frames show it clearly.
{L}. {T}⏎⏎A person is seen in the video.
{L}. {T} This is seen in the last frames.
{L}: {T} - the frames show it.
({L}) {T}, because the frames show it.
{L}. {T} because option {W} is not seen.
{L}. {T}⏎⏎The other options are incorrect: {W}. {U} is not shown.
{L}. {T}⏎⏎Option {W} is wrong: the frames do not show it.
The answer is {L}. {T}⏎⏎Option {W} ("{U}") is incorrect.
The answer is {L}. {T}, not {W}. {U}
The answer is ({L}) {T}. It is not ({W}) {U}
It is not {W}. {U}⏎It is {L}. {T}
{W}. {U} is incorrect. {L}. {T} is correct.
({W}) {U}: incorrect.⏎({L}) {T}: correct.
<think>It could be {W}. {U}</think>⏎{L}. {T}
<think>{list}⏎Perhaps {W}.</think>⏎⏎**{L}. {T}**
{list}⏎⏎{L}. {T}
{list}⏎⏎Answer: {L}. {T}
{list}⏎⏎The correct answer is **{L}. {T}**
{inline}⏎Answer: {L}. {T}
{inline}⏎{L}. {T}
ASSISTANT: {L}. {T}
Assistant: ({L}) {T}
{L}. {T}</s>
{L}. {T}<|im_end|>
Sure! The answer is {L}. {T}
Q: What happens?⏎A: ({L}) {T}
""")

# The option's text and no letter.
TEXT = templates(r"""
{T}
{t}
{t}.
 {T}
{T}⏎
"{T}"
'{T}'
**{T}**
*{T}*
`{T}`
- {T}
{T}</s>
{T}<|im_end|>
Answer: {T}
Answer: {t}
Answer: {t}.
Answer: "{T}"
Answer: **{T}**
**Answer: {T}**
**Answer:** {T}
Answer:⏎{T}
The answer is {T}
The answer is {t}.
The answer is: {T}
The answer is "{T}"
The answer is "{t}".
The answer is **{T}**
The answer is that it is "{t}".
The correct answer is {t}.
The correct answer is: {T}
The correct answer is "{T}"
The correct answer is **{T}**
The correct answer is:⏎⏎**{T}**
The correct option is {t}.
The correct option is "{T}".
The best answer is {t}.
The most likely answer is {t}.
The final answer is {t}.
Final answer: {T}
**Final Answer:** {T}
My answer is {t}.
My answer: {T}
I choose "{T}"
I would choose {t}.
I'd go with {t}.
I would say {t}.
I think the answer is {t}.
I believe the correct answer is {t}.
So the answer is {t}.
Therefore, the answer is {t}.
Therefore, the correct answer is: {T}
Based on the video, the answer is {t}.
Based on the frames, the correct answer is "{T}"
According to the video, the correct option is: {T}
A person is seen, so the answer is {t}.
A person is seen in the video. The answer is {t}.
A person is seen in the video.⏎⏎Answer: {T}
A person is seen in the video.⏎⏎{T}
A person is seen in the video.⏎⏎**{T}**
"{T}" is the correct answer.
"{T}" is correct.
\boxed{{{T}}}
\boxed{{\text{{{T}}}}}
The final answer is $\boxed{{\text{{{T}}}}}$
<answer>{T}</answer>
<answer>{t}</answer>
<CONCLUSION>{T}</CONCLUSION>
<|begin_of_box|>{T}<|end_of_box|>
{{"answer": "{T}"}}
{{"answer": "{t}"}}
{{"choice": "{T}"}}
```json⏎{{"answer": "{T}"}}⏎```
Your Answer: {T} END
Prediction: {T}
ASSISTANT: {T}
Question: What happens?⏎Answer: {T}
Q: What happens?⏎A: {T}
<think>It may be "{U}".</think>⏎⏎{T}
<think>Is it "{U}"? No, wait.</think>⏎The answer is {t}.
The answer is "{T}", not "{U}".
It is not "{U}". It is "{T}".
The answer is not "{U}" but "{T}".
"{U}" is incorrect. "{T}" is correct.
At first I thought "{U}", but the answer is "{T}".
I'm not sure, but I think the answer is {t}.
It is hard to tell, but the most likely answer is {t}.
{list}⏎⏎{T}
{list}⏎⏎The answer is {t}.
{inline}⏎Answer: {T}
Options:⏎{list}⏎⏎Answer: {T}
""")

# Other languages and scripts; the letter stays Latin.
OTHER_LANGUAGES = templates(r"""
答案是{L}
答案是 {L}。
答案：{L}
答案: {L}
答案为{L}。
答案选{L}
正确答案是{L}。
正确答案是：{L}
正确答案为 {L}
正确选项是{L}
正确的选项是{L}。
所以答案是{L}。
因此，答案是{L}。
因此选择{L}。
故选{L}。
故选：{L}
应选{L}
选{L}
选 {L}。
我选择{L}。
选择 {L}
选项{L}
选项 {L} 是正确的。
选项{L}正确
{L}选项
{L}选项是正确的。
{L}。
（{L}）
【{L}】
「{L}」
《{L}》
答案：（{L}）
答案：【{L}】
根据视频，答案是{L}。
根据视频内容，正确答案是 {L}。
视频中，一个人在移动。因此，正确答案是{L}。
不是{W}，而是{L}。
答案不是{W}，答案是{L}。
正解は{L}です。
答えは{L}です。
答えは {L} です
答え：{L}
正解：{L}
正解は「{L}」です。
選択肢{L}
{L}です。
{L}が正解です。
정답은 {L}
정답은 {L}입니다.
정답은 {L}번입니다.
정답: {L}
정답 : {L}
답은 {L}입니다.
답: {L}
{L}입니다.
{L}가 정답입니다.
Ответ: {L}
Ответ: {L}.
Ответ — {L}
Правильный ответ: {L}
Правильный ответ — {L}.
Правильный ответ: вариант {L}
Правильный вариант: {L}
Ответ - вариант {L}.
Відповідь: {L}
La respuesta es {L}.
La respuesta correcta es {L}.
La respuesta correcta es la {L}.
La respuesta correcta es la opción {L}.
La opción correcta es {L}.
La opción correcta es la {L}.
Respuesta: {L}
Opción {L}
La réponse est {L}.
La réponse correcte est {L}.
La bonne réponse est {L}.
La bonne réponse est la {L}.
La réponse est l'option {L}.
Réponse : {L}
Réponse: {L}
Option {L}.
Die Antwort ist {L}.
Die richtige Antwort ist {L}.
Die richtige Antwort lautet {L}.
Die richtige Antwort ist Option {L}.
Antwort: {L}
Richtig ist {L}.
La risposta è {L}.
La risposta corretta è {L}.
La risposta corretta è la {L}.
Risposta: {L}
L'opzione corretta è {L}.
A resposta é {L}.
A resposta correta é {L}.
A resposta correta é a {L}.
A resposta correta é a opção {L}.
A alternativa correta é {L}.
A alternativa correta é a {L}.
Resposta: {L}
Het juiste antwoord is {L}.
Het antwoord is {L}.
Antwoord: {L}
Svaret är {L}.
Svar: {L}
Svaret er {L}.
Cevap: {L}
Doğru cevap: {L}
Doğru cevap {L}
Jawaban: {L}
Jawabannya adalah {L}.
Jawaban yang benar adalah {L}.
Đáp án: {L}
Đáp án là {L}.
Đáp án đúng là {L}.
Câu trả lời là {L}.
คำตอบ: {L}
คำตอบคือ {L}
คำตอบที่ถูกต้องคือ {L}
ข้อ {L}
उत्तर: {L}
सही उत्तर {L} है।
सही उत्तर है: {L}
উত্তর: {L}
الإجابة: {L}
الإجابة هي {L}
الإجابة الصحيحة هي {L}
الإجابة الصحيحة هي: ({L})
الجواب: {L}
الجواب هو {L}.
الخيار {L}
الخيار الصحيح هو {L}
پاسخ: {L}
پاسخ صحیح گزینه {L} است.
گزینه {L}
התשובה היא {L}
תשובה: {L}
התשובה הנכונה היא {L}.
Απάντηση: {L}
Η απάντηση είναι {L}.
Η σωστή απάντηση είναι {L}.
Odpowiedź: {L}
Poprawna odpowiedź to {L}.
Odpověď: {L}
Správná odpověď je {L}.
Răspuns: {L}
Răspunsul corect este {L}.
Válasz: {L}
A helyes válasz: {L}
Vastaus: {L}
""")

# Nothing is chosen, whatever the options are.
NO_CHOICE = templates(r"""

␣
⏎⏎
.
...
?
-
**
```
""
I don't know.
I do not know.
Do not know
Don't know.
I don't know the answer.
I am not sure.
I'm not sure about this one.
Not sure.
Unknown.
Unclear.
N/A
n/a
None
None.
None of the above.
None of the above
None of these options.
None of the options is correct.
None of the options match the video.
None of the given options is correct.
The answer is none of the above.
No answer.
No option is correct.
There is no correct answer.
Neither.
Neither {L} nor {W}.
Neither of the options.
All of the above.
Both {L} and {W}.
{L} and {W}
{L} or {W}
{L}/{W}
{L}, {W}
{L} & {W}
({L}) or ({W})
({L}) and ({W})
Either {L} or {W}.
It is either {L} or {W}.
It could be {L} or {W}.
The answer is {L} or {W}.
The answer is either {L} or {W}.
The answer could be {L} or {W}.
The answer could be either {L} or {W}, but it is unclear which.
Answer: {L} or {W}
Answer: {L}/{W}
Answer: {L}, {W}
Option {L} or option {W}.
I can't decide between {L} and {W}.
I cannot decide between {L} and {W}.
I am torn between {L} and {W}.
It is unclear whether the answer is {L} or {W}.
I cannot tell whether it is {L} or {W}.
I'm not sure whether it is {L}.
I don't think it is {L}.
I do not think the answer is {L}.
It's not {L}.
It is not {L}.
It isn't {L}.
Not {L}.
Not {L}
not {l}
The answer is not {L}.
The answer isn't {L}.
The correct answer is not {L}.
The answer cannot be {L}.
The answer is definitely not {L}.
{L} is incorrect.
{L} is wrong.
{L} is not correct.
{L} is not the answer.
({L}) is incorrect.
Option {L} is incorrect.
Option {L} is not correct.
Option {L} can be ruled out.
Option {L} is wrong because it does not match the video.
We can rule out {L}.
We can eliminate option {L}.
I would not choose {L}.
Not "{T}"
It is not "{T}".
It's not {t}.
The answer is not "{T}".
"{T}" is incorrect.
"{T}" is wrong.
I cannot see whether it is {t}.
I cannot tell whether it is "{T}" or "{U}".
I can't determine if it is {t}.
It is impossible to tell whether it is {t} or {u}.
It is unclear whether it is {t}.
The video does not show whether it is {t}.
The video doesn't show whether it is "{T}".
There is no evidence for "{T}".
I am unable to determine whether it is "{T}" or "{U}".
I'm sorry, but I can't tell if it is {t}.
I'm sorry, I can't help with that.
I'm sorry, but I cannot view videos.
I'm sorry, but I can't assist with that request.
I am sorry, I am unable to answer this question.
I apologize, but I cannot determine the answer.
As an AI language model, I cannot watch videos.
As an AI, I can't see the video. Please describe it.
I can't see the video.
I cannot see the video. Could you describe what happens?
I cannot determine the answer from the given frames.
I cannot determine the correct answer.
I can't answer this question.
I cannot answer.
I am unable to view the video.
I am unable to determine the answer.
Unable to determine.
Unable to answer the question.
Cannot be determined.
It cannot be determined from the video.
It is not possible to determine the answer from the frames.
It is impossible to determine the answer.
The answer cannot be determined from the video.
The answer is unclear.
The answer is unknown.
The answer is not clear from the video.
The answer is not in the options.
The correct answer is not listed.
The question cannot be answered.
The video does not provide enough information.
The video does not provide enough information to answer the question.
There is not enough information to determine the answer.
Not enough information.
Insufficient information.
The frames are too blurry to answer.
Please provide the video.
Please provide more context so that I can choose between {L} and {W}.
Could you please clarify the question?
What do you mean?
Sorry, I can't answer. A person may be in the video, but I cannot see it.
I cannot tell. A person may be in the video.
I can't tell from a single image.
A person is in the video.
A person is walking.
A man and a woman are talking in a room.
I see a person.
I am looking at the frames.
I would need more frames.
The video shows a person.
In the video, a person can be seen.
The
A person
The answer is
The answer is:
The correct answer is
Answer:
Answer:␣
**Answer:**
Option
The best answer is the one that
I think the answer is
Let's think step by step.
Let me analyze the video.
Let me look at the frames one by one. In the first frame, a person stands.
{list}
{inline}
Options:⏎{list}
Options: {inline}
The options are:⏎{list}
The options are: {inline}
Question: What happens?⏎Options:⏎{list}⏎Answer:
Question: What happens? {inline} Answer:
Please choose one of the options:⏎{list}
Which of these is right?⏎{list}
I cannot tell which one is right:⏎{list}
I'm sorry, I cannot see the video. The options are:⏎{list}
Z
(Z)
Z.
Answer: Z
The answer is Z.
Option Z
The answer is (Z).
\boxed{{Z}}
<answer>Z</answer>
{{"answer": "Z"}}
<answer></answer>
{{"answer": ""}}
{{"answer": null}}
{{"answer": "None"}}
{{"answer": "unknown"}}
{{"answer": "I don't know"}}
<answer>None of the above</answer>
<answer>I cannot determine</answer>
\boxed{{\text{{None}}}}
\boxed{{}}
<think>The answer is {L}. But wait, maybe {W}
<think>Let me look at option {L}.
<think>First, {t}? Or {u}? Let me
<think>I cannot tell.</think>
<think>Perhaps {L}.</think>I cannot determine the answer.
<think>The answer is {L} or {W}.</think>⏎I don't know.
<think></think>
<reasoning>It may be {L}, or maybe {W}
USER: What happens? ASSISTANT:
I think, therefore I am.
I, too, am not sure.
U.S. and U.K.
e.g. a.m. p.m.
An A-frame, a T-shirt, a B-roll and a C-section.
Grade A+, vitamin C and plan B.
Person A pushes person B.
抱歉，我无法确定。
我不知道。
无法确定答案。
答案不是{L}。
わかりません。
申し訳ありませんが、動画を見ることができません。
죄송합니다. 알 수 없습니다.
Я не знаю.
Не могу определить ответ.
Извините, я не вижу видео.
No puedo determinar la respuesta.
No lo sé.
La respuesta no es {L}.
Je ne sais pas.
Je ne peux pas voir la vidéo.
Ich weiß es nicht.
Die Antwort ist nicht {L}.
Non lo so.
Não sei.
لا أعرف
😀
🤷
1e400
NaN
null
undefined
""")

# Reasoning before a conclusion; it names other options and decides nothing.
REASONING = templates(r"""
Let me look at the frames.
Let's think step by step. In the first frame, a person is seen. In the last, nobody is.
To answer the question, we compare the first and the last frame.
The video shows a person in a room. A dog is there, too. I look at each option.
Option {W} says "{U}". This does not match the video.
Option {W}: {U} - this is not what we see.
At first glance, {W} seems plausible.
It could be {W}. It could also be {L}.
One might think that the answer is {W}, because of the first frames.
The first frames suggest "{U}".
I considered ({W}) {U}
We need to decide between {W} and {L}.
Options {W} and {L} are both plausible.
{W}. {U} is possible. {L}. {T} is possible, too.
The options are:⏎{list}⏎
{inline}
Let's evaluate each option:⏎⏎{list}⏎
**Option {W}: {U}** - The frames do not show this.⏎⏎**Option {L}: {T}** - The frames show this.
- {W}: does not match.⏎- {L}: matches.
Is it {W}? No, since the frames do not show it.
If it were {W}, the frames would look different.
I don't think that it is {W}.
({W}) is not seen.
It is hard to tell from the frames alone.
I cannot see every detail.
1. A person enters.⏎2. The person sits.⏎3. The person leaves.
Person A and person B are in the frame.
""")

# Conclusions that may follow any reasoning.
CONCLUSION = templates(r"""
⏎⏎{L}
⏎⏎**{L}**
⏎⏎{L}.
⏎⏎({L})
⏎⏎{L}. {T}
⏎⏎**{L}. {T}**
⏎⏎Answer: {L}
⏎⏎**Answer: {L}**
⏎⏎Final answer: {L}. {T}
⏎⏎The answer is {L}.
⏎⏎The correct answer is:⏎⏎**{L}. {T}**
⏎⏎\boxed{{{L}}}
⏎<answer>{L}</answer>
⏎```json⏎{{"answer": "{L}"}}⏎```
 The answer is {L}.
 So the answer is ({L}).
 Therefore, the correct answer is option {L}.
 Therefore, the answer is {L}. {T}
 Hence, I choose {L}.
 I would go with {L}.
 My final answer is {L}.
 So, {L} is the correct answer.
 Thus, option {L} is the best answer.
 Answer: {L}
 However, the answer is {L}.
 Still, my best guess is {L}.
 The answer is "{T}"
 Therefore, the correct answer is: {T}
⏎⏎Answer: {T}
""")

# Explanations that may follow any conclusion that stands first.
EXPLANATION = templates(r"""
⏎⏎Explanation: A person can be seen in the frames.
 This is because the frames show it clearly.
⏎⏎Option {W} is incorrect because it does not match the frames.
⏎⏎The other options do not match the video.
⏎⏎Here is why:⏎- {W} is wrong: the frames do not show it.
⏎⏎Note that {W} is not supported by the video.
 I hope this helps!
 Let me know if you need anything else.
 It cannot be {W}, as the frames show something else.
""")
OPENING = templates(r"""
{L}
{L}.
({L})
{L}. {T}
({L}) {T}
**{L}. {T}**
Answer: {L}
Answer: {L}. {T}
The answer is {L}.
The correct answer is ({L}).
The correct answer is **{L}. {T}**
<answer>{L}</answer>
""")

# ``{Y}`` is "Yes" or "No", ``{y}`` the same in lower case, ``{O}`` and ``{o}`` the other one.
YES_OR_NO = templates(r"""
{Y}
{y}
{Y}.
{y}.
{Y}!
{Y},
"{Y}"
'{Y}'
`{y}`
({Y})
[{Y}]
**{Y}**
**{Y}.**
*{Y}*
# {Y}
> {Y}
- {Y}
⏎{Y}⏎
{Y}</s>
{Y}<|im_end|>
{Y} END
Answer: {Y}
Answer: {y}.
Answer: **{Y}**
**Answer: {Y}**
**Answer:** {Y}
Answer:⏎{Y}
ANSWER: {Y}
Final answer: {Y}
**Final Answer:** {Y}
The final answer is {y}.
The answer is {y}.
The answer is {Y}
The answer is: {Y}.
The answer is "{Y}".
The answer is **{y}**.
The correct answer is {y}.
The correct answer is: {Y}
The answer to the question is {y}.
The answer should be {y}.
My answer is {y}.
So the answer is {y}.
So, the answer is "{y}".
Therefore, the answer is {y}.
Therefore, {y}.
Thus, {y}.
Hence, {y}.
So {y}.
I would say {y}.
I'd say {y}.
I think {y}.
I think the answer is {y}.
I believe the answer is {y}.
I'd answer {y}.
Based on the video, the answer is {y}.
Based on the clip, {y}.
Given the video clip, the answer is {y}.
Conclusion: {Y}
Verdict: {Y}
Prediction: {y}
<answer>{Y}</answer>
<answer>{y}.</answer>
<CONCLUSION>{Y}</CONCLUSION>
\boxed{{{Y}}}
\boxed{{\text{{{y}}}}}
The final answer is $\boxed{{{Y}}}$.
{{"answer": "{y}"}}
{{"answer": "{Y}", "reason": "It is seen."}}
{{"reason": "It is seen.", "answer": "{y}"}}
```json⏎{{"answer": "{Y}"}}⏎```
ASSISTANT: {Y}
Assistant: {Y}.
Q: Does it hold?⏎A: {Y}
Question: Does it hold?⏎Answer: {Y}
{Y}, the video shows it.
{Y}. The video shows it.
{Y} - the video shows it.
{Y}: the video shows it.
{Y}; the video shows it.
{Y}⏎The video shows it.
{Y}⏎⏎Explanation: the video shows it.
{Y}, because the video shows it.
{Y}, this can be seen in the video.
{Y}, based on the video.
{Y}, I think so.
Answer: {Y}⏎Explanation: the man is there.
Answer: {Y}, because the man is there.
The man is there. {Y}.
The man is there.⏎⏎{Y}
The man is there.⏎⏎**{Y}**
The man is there.⏎⏎Answer: {Y}
The man is there. Answer: {Y}
The man is there, so the answer is {y}.
The man is there, so {y}.
Let's think step by step. The man is there. He falls. So the answer is {y}.
At first I thought {o}, but the answer is {y}.
It may look like a {o}, but the answer is {y}.
The answer is {y}, not {o}.
The answer is not {o} but {y}.
The answer is {o}. Wait, the answer is {y}.
I'm not sure, but I think the answer is {y}.
It is hard to tell, but the answer is probably {y}.
I cannot see everything, but I would say {y}.
If I had to guess, I would say {y}.
Yes or no? {Y}.
Yes or no: {y}
Answer yes or no: {Y}
Does this hypothesis hold? Answer yes or no.⏎{Y}
<think>Maybe {o}.</think>{Y}
<think>⏎{O}? No, wait.⏎</think>⏎⏎{Y}.
<think>The answer is {o}. Hmm.</think>⏎The answer is {y}.
Maybe {o}?</think>⏎{Y}
◁think▷{o}◁/think▷{Y}
""")

# More ways to name the letter, with or without the text.
MORE_LETTERS = templates(r"""
The answer is: **{L}**) {T}
Answer is {L}: {T}
The correct choice is **{L}) {T}**
Selected answer: **{L}**
The letter of the correct answer is {L}.
The letter corresponding to the correct answer is {L}.
The correct letter is {L}.
The letter is {L}.
Correct letter: {L}
The answer letter is {L}.
I'd answer {L}.
I answer {L}.
I'd have to say {L}.
I'd have to go with {L}.
I have to go with {L}.
I'm inclined to choose {L}.
I'm leaning towards {L}.
I would lean towards option {L}.
My response is {L}.
My response: {L}
My prediction is {L}.
My conclusion is {L}.
We choose {L}.
We can conclude that the answer is {L}.
We conclude {L}.
We select {L}.
One should choose {L}.
The best choice here is {L}.
The best option here would be {L}.
The best description is {L}.
The best match is {L}.
The best fit is option {L}.
The closest match is {L}.
The closest option is ({L}).
The closest answer is {L}
The most suitable answer is {L}.
The most suitable option is {L}.
The most reasonable answer is {L}.
The most logical answer is {L}.
The most probable answer is {L}.
The most likely option is {L}.
The most likely description is ({L}).
The most consistent option is {L}.
The option is {L}.
The right choice is {L}.
The right option is ({L}).
The right one is {L}.
The correct one is {L}.
The correct statement is {L}.
The correct description is {L}.
The correct description is: {L}. {T}
The proper answer is {L}.
The appropriate option is {L}.
The accurate description is {L}.
The actual answer is {L}.
The true answer is {L}.
The solution is {L}.
The result is {L}.
The final choice is {L}.
The final option is {L}.
Final answer is {L}
Final answer - {L}
Final Answer → {L}
FINAL ANSWER: {L}
FINAL ANSWER: ({L}) {T}
Final: **{L}**
Final response: {L}
Final prediction: {L}
Final selection: {L}
Conclusion: The answer is {L}.
Conclusion: option {L}
In conclusion, {L}.
In conclusion, the answer is {L}.
In conclusion, option {L} is correct.
In summary, the answer is {L}.
To conclude, the correct answer is {L}.
To sum up: {L}
Overall, {L} is the best answer.
Overall, the answer is {L}.
As a result, the answer is {L}.
Consequently, the answer is {L}.
Accordingly, the answer is {L}.
Given this, the answer is {L}.
Given the evidence, option {L} is the most plausible answer.
From this, we can infer that the answer is {L}.
This suggests that the answer is {L}.
This indicates option {L}.
This indicates that option {L} is correct.
This means the answer is {L}.
This implies that {L} is correct.
That makes {L} the correct answer.
This makes option {L} the best choice.
Making {L} the correct answer.
Thus {L}
Thus, {L}.
Hence {L}.
Hence: {L}
Ergo, {L}.
So {L}
So it's {L}.
So I'd go with {L}.
So my answer is {L}.
So the correct option is {L}.
Then the answer is {L}.
Clearly, the answer is {L}.
Obviously {L}.
Definitely option {L}.
Certainly {L}.
Surely {L}.
I'm sure it's {L}.
I am certain that it is {L}.
I'm pretty sure the answer is {L}.
I'm quite confident it's {L}.
I am 90% sure that it is {L}.
With high confidence: {L}
With 95% confidence, the answer is {L}.
{L} (confidence: 0.9)
{L} | confidence 0.9
{L}; I am certain.
{L} - {t}
{L} -> {T}
{L} => {T}
{L} = {T}
{L} | {T}
{L}、{T}
{L}．{T}
{L}：{T}
（{L}）{T}
[{L}]: {T}
<{L}> {T}
({L}): {T}
({L}). {T}
({L}) - {T}
({L}), {t}
"{L}) {T}"
*{L}) {T}*
**{L})** {T}
**({L})** {T}
**[{L}]** {T}
**Option ({L})** {T}
**Option {L}**: {T}
Option {L} | {T}
Option {L} -> {T}
option {l}: {t}
Opt. {L}
Ans: ({L}) {T}
Ans: {l}
ans. {l}
Answer : {L}
Answer :{L}
Answer； {L}
Answer：{L}
Answer：({L}) {T}
Answer is: {L}
Answer is ({l}).
Answer would be {L}.
Answer should be option {L}
Answer to the question: {L}
Answer for the question: {L}
Answer to this question is {L}
Answer choice {L} is correct.
Answer choice ({L}): {T}
Answer Choice: {L}) {T}
Answer Option {L}
Answer key: {L}
Correct Answer: {L}) {T}
Correct answer is option ({L}).
Correct option is {L}.
Correct choice: ({L})
Right answer: {L}
Best answer: {L}
Best option: {L}. {T}
Best choice: {L}
Chosen answer: {L}
Chosen: {L}
Selected: ({L})
Selected choice: {L}. {T}
Selecting {L}.
Choosing {L}.
Pick: {L}
My pick: {L}
My choice: {L}. {T}
Choice: ({L}) {T}
Guess: {L}
Best guess: {L}
Educated guess: {L}
Prediction: {L}. {T}
Output: {L}. {T}
Response: {L}. {T}
Result: ({L})
{{"answer":"{L}"}}
{{ "answer" : "{L}" , "why": "because" }}
{{"answer": "{L})"}}
{{"answer": "Option {L}"}}
{{"answer": "{l}"}}
{{"Answer Letter": "{L}"}}
{{"answer_letter": "{L}"}}
{{"correct_answer": "{L}"}}
{{"correct_option": "{L}"}}
{{"selected_option": "{L}"}}
{{"final_answer": "{L}. {T}"}}
{{"prediction": "{L}"}}
{{"result": {{"answer": "{L}"}}}}
[{{"answer": "{L}"}}]
["{L}"]
('{L}',)
answer={L}
answer = {L}
answer: "{L}"
answer: '{L}'
answer: `{L}`
answer: [{L}]
answer: {{{L}}}
answer: <{L}>
`Answer: {L}`
```text⏎Answer: {L}⏎```
<ANSWER>{L}</ANSWER>
<answer>⏎{L}⏎</answer>
<answer>{L}: {T}</answer>
<answer><b>{L}</b></answer>
<answer>The answer is {L}.</answer>
<Answer> Option {L} </Answer>
<final>{L}</final>
<choice>{L}</choice>
<think>I look.</think><answer>{L}</answer>
<think>I look.</think>⏎<answer>({L}) {T}</answer>
<think>I look. {W}? No. {L}? Yes.</think>⏎{L}
<think>⏎So the answer is {W}? Hmm, no: {L}.⏎</think>⏎Final Answer: {L}
<think>{list}</think>{L}
\boxed{{({L})}}
\boxed{{\mathbf{{{L}}}}}
\boxed{{ {L} }}
\boxed{{\textbf{{({L})}} }}
$\boxed{{\text{{{L}. {T}}}}}$
The answer: $\boxed{{{L}}}$
Therefore, $\mathbf{{{L}}}$.
**Final Answer**⏎⏎\[ \\boxed{{{L}}} \]
**Final Answer**⏎{L}
**Final Answer**⏎⏎{L}. {T}
**Answer**⏎⏎{L}
### Final Answer⏎**{L}. {T}**
## Answer⏎{L}) {T}
---⏎**{L}**
***{L}***
***Answer: {L}***
__Answer:__ {L}
> **Answer:** {L}
1. {L}
1) {L}
1. Answer: {L}
Q1: {L}
#1: {L}
The video shows it clearly - {L}.
The man is in the room ... {L}
Frames 1-5 show a man; frames 6-16 show nobody. {L}.
Frames 1-5 show a man.⏎Answer - {L}
Looking at the frames, I can see a man. The answer is therefore ({L}).
A man enters. A dog follows. Answer: {L}.
A man enters the room, and then a dog follows him, which is described by option {L}.
A man enters, so option {L} is right.
A man enters, so it's {L}.
As seen in the video, option {L} describes what happens best.
It appears that {L} is the correct answer.
It seems that the answer is {L}.
It seems to be {L}.
It looks like the answer is {L}.
It looks like {L}.
It would be {L}.
It has to be option {L}.
It can only be {L}.
It is clearly option ({L}).
It's definitely {L}
It's option {L}
Its {L}
it is {L}
i think its {l})
i think the answer is {l}
i would say ({l})
its option {l}
must be {L}
should be {L}
probably {L}
most likely {L}
I believe it's {L}.
I believe that option {L} is the correct answer.
I think that {L} is correct.
I think option {L}.
I think option {L} is the best.
I suspect {L}.
I'd guess {L}.
I'd bet on {L}.
I vote for {L}.
I conclude that the answer is {L}.
I conclude: {L}
I will answer: {L}
I will go with {L}.
I shall choose {L}.
I've chosen {L}.
I have selected option {L}.
I opted for {L}.
I went with {L}.
Let me go with {L}.
Let's choose {L}.
Going with option {L}.
Sure thing! {L}
Sure! {L}. {T}
Of course! The answer is {L}.
Certainly. {L}) {T}
Yes, the correct answer is {L}.
Okay. {L}
OK, {L}.
Alright, the answer is {L}.
Well, {L}.
Hmm, {L}.
Thank you! The answer is {L}.
Great question! The answer is {L}.
Only {L} is correct.
Only option {L} matches.
Only {L} fits.
None of the others fit, so {L}.
None of the other options match, so the answer is {L}.
All other options are wrong, so {L}.
By elimination, {L}.
By process of elimination, the answer is {L}.
{W} is not supported, so {L}.
Since {W} is wrong, {L} must be right.
{L} rather than {W}.
{L}, not {W}.
{L} and not {W}.
{L} over {W}.
Not {W} but {L}.
Not {W}, but {L}.
It isn't {W}. It's {L}.
Rather than {W}, I would choose {L}.
I would choose {L} over {W}.
I ruled out {W}, so the answer is {L}.
I changed my mind from {W} to {L}. The answer is {L}.
Initially {W}, but finally {L}.
My first guess was {W}, but the correct answer is {L}.
{W}? No. {L}? Yes.
{W} is incorrect; {L} is correct.
{W}: wrong. {L}: correct.
The answer is {L} because {W} does not match.
The answer is {L}, because {W} would show something else.
The answer is {L} since {W} is impossible.
The answer is {L}. {W} is wrong.
The answer is {L} ({W} is wrong).
The answer is {L}; {W} cannot be right.
The correct option is {L}, whereas {W} is not.
{L} is correct, {W} is not.
{L} is correct and {W} is wrong.
{L} is the answer because {W} contradicts the video.
{L} matches the video better than {W}.
{L} is a better match than {W}.
{L} is the most accurate.
{L} is the most accurate description.
{L} is the option that best describes the video.
{L} is what happens.
{L} is my answer.
{L} is my final answer.
{L} is my choice.
{L} is the one that matches.
{L} is the closest.
{L} is the only possible answer.
{L} is the only correct option.
{L} is likely the correct answer.
{L} is most likely correct.
{L} is probably right.
{L} is probably the answer.
{L} is clearly the answer.
{L} seems to be the right answer.
{L} seems correct.
{L} seems most likely.
{L} seems like the best answer.
{L} looks right.
{L} looks correct.
{L} appears to be correct.
{L} would be the best answer.
{L} would be my choice.
{L} should be the correct answer.
{L} must be the answer.
{L} must be correct.
{L} describes the video best.
{L} best describes it.
{L} best matches the video.
{L} fits best.
{L} fits the video.
{L} matches.
{L} accurately describes the video.
{L} correctly describes what happens.
({L}) best describes what happens.
Option {L} fits best.
Option {L} accurately reflects the video.
Option {L} is consistent with the video.
Option {L} is supported by the video.
Option {L} is the one.
Option {L} is what happens.
Option {L} is more likely.
Option {L} is most likely the correct answer.
Option {L} it is.
Option {L}, since it matches the video.
Option {L} because it matches the video.
Option {L} would be the correct choice.
Option {L} must be the correct answer.
Option {L} looks correct.
Option {L} makes the most sense.
{L} makes the most sense.
{L} makes sense.
{L} gets my vote.
{L} wins.
{L} it is!
{L} I think.
{L}, I believe.
{L}, definitely.
{L}, of course.
{L}...
{L} .
{L} ✔
{L} ✓
✓ {L}
✔️ {L}
☑ {L}
⭐ {L}
👉 {L}
Answer ✅: {L}
Answer: {L} ✅
**{L}** ✅
✅ **Answer: {L}**
🎯 Answer: {L}
🤔 I think it's {L}
""")

# More ways to choose nothing.
MORE_NO_CHOICE = templates(r"""
I have no idea.
I really don't know.
I honestly can't tell.
I couldn't tell you.
I can't decide.
I'm unsure.
I am uncertain about the answer.
I'm afraid I can't answer this.
I'm afraid I cannot see the video.
Unfortunately, I cannot determine the answer.
Unfortunately, the video does not show this.
Regrettably, I'm unable to view the frames.
Sorry, but I do not have access to the video.
I do not have the ability to watch videos.
I don't have enough context to answer.
I lack the information to answer this.
It's impossible to know.
It's not clear.
It is unclear from the video.
It's unclear which option is correct.
It is not clear which of the options is right.
There's no way to know.
There is no way to determine this from the frames.
There isn't enough information to choose an option.
There is insufficient evidence to select an option.
The information provided is insufficient.
The frames alone are insufficient to determine the answer.
The frames do not give enough context.
The given frames don't show the event.
The answer is not visible.
The answer is not shown in the video.
The answer isn't given.
The answer depends on the context.
The answer depends on what happens before.
The correct answer cannot be determined.
The correct answer can't be determined from these frames.
The correct option cannot be identified.
The options do not match the video.
The options don't make sense.
No option matches.
No options are correct.
None of them.
None of these.
None of those.
None apply.
None of the provided options are correct.
None of the choices match what is shown in the video.
Neither option is correct.
All options are wrong.
All of the options are incorrect.
All options seem plausible.
All of these could be correct.
Any of them could be right.
Either could be correct.
Both are possible.
More than one option could be correct.
Several options are plausible.
Multiple answers are possible.
It could be any of them.
It could be anything.
Could be either.
Maybe.
Perhaps.
Possibly.
Hmm.
Hmm, let me think.
Let me think about it.
Let me think step by step.
OK.
Okay, let's look at the video.
Sure.
Sure, I can help with that!
Sure! Please upload the video.
Certainly! Could you provide the video?
Of course! What would you like to know?
Hello! How can I help you today?
Thank you for your question.
Thanks!
What is the question?
Which video?
Can you provide more details?
Can you show me the video?
Please clarify.
Please upload the video so I can answer.
Please try again.
Error
Error: request timed out
[ERROR]
[BLOCKED]
[no response]
<no answer>
<unk>
</s>
<|endoftext|>
<image>
<video>
<pad><pad>
…
???
!!!
---
***
{{}}
[]
()
''
nan
N.A.
n.a.
TBD
TODO
0x1F
http://example.com/a/b/c
user@example.com
The video is about a person.
The video features a person in a room.
This video shows a person.
In this video, we see a person.
A video of a person.
A video.
A person.
A group of people.
A close-up of a hand.
An image of a person.
I can see a person in the video.
I see nothing.
I need to see the video.
It is a video.
There is a person.
The person is in a room. The person is sitting.
The scene takes place in a kitchen.
The frames show a kitchen with a table and a chair.
The camera moves.
The first frame shows a person. The second frame shows the same person.
Frame 1: a person. Frame 2: a person.
Step 1: look at the frames. Step 2: compare them.
I will analyze the frames one by one.
I'll analyze the video first.
To determine the answer, I need to look at the video.
To answer the question, we need to examine the frames.
First, I will look at the first frame.
Let's break it down.
Let's see.
Based on the video,
Based on the frames provided, the
According to the video, the correct answer is
The correct option is
So the answer is
Therefore, the answer is
Therefore, the correct answer is option
I would choose
I choose
My answer is
Final answer:
**Final Answer:**
### Answer
Answer: None
Answer: None of the above
Answer: N/A
Answer: Unknown
Answer: Unclear
Answer: I don't know
Answer: Cannot be determined
Answer: Not enough information
Answer: unable to determine
Answer: ?
Answer: -
Answer: ...
Answer: []
The answer is none.
The answer is: I don't know.
The answer is: unable to determine.
Final answer: cannot be determined
Final Answer: None of the options
\boxed{{?}}
\boxed{{\text{{unknown}}}}
\boxed{{\text{{None of the above}}}}
<answer>?</answer>
<answer>unknown</answer>
<answer>N/A</answer>
<answer>none</answer>
{{"answer": "N/A"}}
{{"answer": "unclear"}}
{{"answer": "none of the above"}}
{{"answer": []}}
{{"error": "no video"}}
I cannot choose between {L} and {W}.
I can't choose between option {L} and option {W}.
I'm torn between {L} and {W}.
I am undecided between {L} and {W}.
I hesitate between {L} and {W}.
It's a toss-up between {L} and {W}.
Could be {L}, could be {W}.
Maybe {L}, maybe {W}.
Perhaps {L} or {W}.
Possibly {L} or {W}.
Probably {L} or {W}.
Either ({L}) or ({W}).
Either option {L} or option {W}.
{L} or {W}?
{L}? {W}?
{L} / {W}
{L}|{W}
{L} + {W}
{L} and {W}.
{L} as well as {W}.
{L} & {W}.
Both {L} and {W} are correct.
Both {L} and {W} are possible.
Both ({L}) and ({W}) seem plausible.
Options {L} and {W}.
Options {L} and {W} are correct.
Options {L} and {W} are both plausible.
Option {L} or {W}.
The answers are {L} and {W}.
The correct answers are {L} and {W}.
The answer is {L} and {W}.
The answer is both {L} and {W}.
The answer might be {L} or {W}.
The answer may be either {L} or {W}.
The answer is {L}/{W}.
The answer is {L} & {W}.
Answer: {L} and {W}
Answer: {L} & {W}
Answer: ({L}) or ({W})
Answer: {L} or {W}, I am not sure.
I would choose {L} or {W}.
I'd go with either {L} or {W}.
Not {L} or {W}.
Not ({L}).
Definitely not {L}.
Certainly not {L}.
Probably not {L}.
It's definitely not {L}.
It is certainly not option {L}.
It can't be {L}.
It cannot be {L}.
It couldn't be {L}.
It won't be {L}.
It is unlikely to be {L}.
It doesn't seem to be {L}.
It does not look like {L}.
I don't think it's {L}.
I don't believe it's {L}.
I do not think that {L} is correct.
I doubt it's {L}.
I doubt that the answer is {L}.
I wouldn't pick {L}.
I would not go with {L}.
I would rule out {L}.
I can rule out {L}.
I'd eliminate {L}.
We can exclude {L}.
We can exclude option {L}.
We can eliminate {L} and {W}.
{L} can be ruled out.
{L} can be excluded.
{L} can be eliminated.
{L} is ruled out.
{L} is not right.
{L} is not right answer.
{L} is not it.
{L} is not the correct answer.
{L} is not the right option.
{L} is not possible.
{L} is not supported by the video.
{L} is false.
{L} is unlikely.
{L} is impossible.
{L} is clearly wrong.
{L} is definitely incorrect.
{L} seems wrong.
{L} seems incorrect.
{L} seems unlikely.
{L} does not match.
{L} doesn't match the video.
{L} doesn't fit.
{L} cannot be right.
{L} can't be correct.
{L} isn't correct.
{L} isn't right.
{L} was not shown.
({L}) is not correct.
({L}) is wrong.
({L}): incorrect
({L}) - wrong
{L}: incorrect.
{L} ❌
{L} ✗
Option {L} is not supported.
Option {L} is not the answer.
Option {L} does not match the video.
Option {L} cannot be correct.
Option {L} seems wrong.
Option {L} is unlikely.
Neither {L} nor {W} is correct.
Neither ({L}) nor ({W}).
Neither of {L} and {W}.
{L} and {W} are wrong.
{L} and {W} are both incorrect.
{L} and {W} can be ruled out.
{L} is wrong. {W} is wrong.
{L} is wrong and so is {W}.
Is it {L}?
Is it {L} or {W}?
Is {L} correct?
Is the answer {L}?
Could it be {L}?
Should I choose {L}?
Do you mean {L}?
Why not {L}?
What about {L}?
What does {L} mean?
What does option {L} mean?
Why is {L} the answer?
If it is {L}, I cannot see it.
If {L} were correct, the video would be different.
If the answer is {L}, please tell me.
Suppose the answer is {L}.
Assume {L}.
Whether {L} is correct is unclear.
Whether it is {L} or {W} is unclear.
It is unclear if {L} is correct.
I can't tell if {L} is correct.
I can't confirm that {L} is correct.
I cannot confirm whether the answer is {L}.
I cannot verify that it is {L}.
There is no evidence for {L}.
There's no evidence that the answer is {L}.
Nothing supports {L}.
The video contradicts {L}.
The video does not support {L}.
The frames don't show {L}.
The video shows neither {L} nor {W}.
The choices are {L} and {W}.
The options include {L} and {W}.
The options are {L}, {W} and others.
Choose between {L} and {W}.
Pick one: {L}, {W}
It is not {t}.
It isn't "{T}".
It's not "{T}", it's something else.
This is not "{T}".
I don't think it is "{T}".
I do not see "{T}".
I don't see "{T}" in the video.
There is no sign of "{T}".
There is no indication of "{T}" in the video.
"{T}" is not correct.
"{T}" is not shown.
"{T}" is not what happens.
"{T}" does not match the video.
"{T}" cannot be confirmed.
"{T}" can be ruled out.
"{T}" or "{U}".
"{T}" or "{U}"?
"{T}" and "{U}" are both possible.
Either "{T}" or "{U}".
Neither "{T}" nor "{U}".
Both "{T}" and "{U}".
Not "{T}" and not "{U}".
I cannot tell whether "{T}" or "{U}" is right.
I can't decide between "{T}" and "{U}".
I'm not sure whether "{T}" is right.
I'm not sure if it's "{T}" or "{U}".
It's unclear if "{T}" or "{U}".
It could be "{T}" or "{U}".
It may be "{T}" or "{U}", I can't tell.
The question is whether "{T}".
The question is if it is "{T}".
The question asks whether it is "{T}" or "{U}".
Is it "{T}"?
Is it "{T}" or "{U}"?
Could it be "{T}"?
The answer isn't "{T}" or "{U}".
The answer is either "{T}" or "{U}".
The answer could be "{T}" or "{U}".
Answer: "{T}" or "{U}"
Answer: not "{T}"
If it is "{T}", I cannot see it.
It is impossible to say whether "{T}".
The video does not show whether "{T}" or "{U}".
I'm sorry, I can't say whether it is "{T}".
Sorry, I cannot determine if "{T}" is correct.
As an AI, I cannot say if "{T}" is right.
Choices: {inline}
Options:⏎{list}⏎I don't know.
{list}⏎⏎I cannot determine which one is correct.
{list}⏎⏎None of these.
Question: what?⏎Options:⏎{list}
Choose one of these:⏎{list}⏎⏎Answer:
The possible answers are:⏎{list}
Let's look at the options:⏎{list}⏎
""")
